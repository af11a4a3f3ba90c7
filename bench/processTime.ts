/** Times programs that run in separate processes, and reads numbers from the command line. */
import { execFile, execFileSync } from "node:child_process";
import { promisify } from "node:util";

export interface Run {
  readonly wallSeconds: number;
  readonly cpuSeconds: number;
  readonly output: string;
}

/** Runs a program and returns its processor time, which the shell measures. */
export async function timed(command: readonly string[]): Promise<Run> {
  const script = `TIMEFORMAT='seconds %R %U %S'; time "$@"`;
  const { stdout, stderr } = await promisify(execFile)("bash", ["-c", script, "bash", ...command]);
  const [, wall, user, system] = /seconds ([\d.]+) ([\d.]+) ([\d.]+)/.exec(stderr) ?? [];
  if (system === undefined) throw new Error(`The shell printed no times: ${stderr}`);
  return { wallSeconds: Number(wall), cpuSeconds: Number(user) + Number(system), output: stdout };
}

export function isInstalled(program: string): boolean {
  try {
    execFileSync(program, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Returns the number of an argument such as `columns=5400`. */
export function numberArgument(name: string, byDefault: number): number {
  const text = process.argv.find((argument) => argument.startsWith(`${name}=`))?.slice(name.length + 1);
  const value = text === undefined ? byDefault : Number(text);
  if (!(Number.isInteger(value) && (value > 0 || text === undefined)))
    throw new Error(`${name} must be a positive integer (got ${text})`);
  return value;
}
