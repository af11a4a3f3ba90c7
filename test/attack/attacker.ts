import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const ATTACKS_FILE = fileURLToPath(new URL("attacks.mjs", import.meta.url));

/** Settings of an attack; see attacks.mjs. */
export interface AttackSettings {
  readonly port: number;
  /** Authentication headers of the attacking account. */
  readonly headers: Readonly<Record<string, string>>;
  /** Number of connections. */
  readonly size: number;
  /** Loopback address that the connections come from. */
  readonly localAddress?: string;
}

/** What an attack has done. */
export interface AttackReport {
  readonly connectionCount: number;
  /** Responses by status; 0 for connections that closed without one. */
  readonly statuses: Readonly<Record<string, number>>;
}

/** Starts an attack in its own process. @returns a function that ends it */
export async function startAttack(name: string, settings: AttackSettings): Promise<() => Promise<AttackReport>> {
  const child = spawn(process.execPath, [ATTACKS_FILE, name, JSON.stringify(settings)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  const exited = once(child, "close");
  await Promise.race([once(child.stdout, "data"), exited]);
  return async () => {
    child.stdin.end();
    await exited;
    process.off("exit", kill);
    const report = output.split("\n").find((line) => line.startsWith("{"));
    if (report === undefined) throw new Error(`The attack "${name}" failed: ${output}`);
    return JSON.parse(report) as AttackReport;
  };
}
