import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";

/** The traced system calls: those that change files or directories, write to sockets, or sync. */
const TRACED_CALLS =
  "openat,creat,rename,renameat2,unlink,unlinkat,truncate,ftruncate,fallocate," +
  "write,writev,pwrite64,pwritev,pwritev2,sendto,sendmsg,sendfile,copy_file_range," +
  "fsync,fdatasync,sync_file_range,msync";

/**
 * Returns the strace command that runs a program and writes its system calls, with all bytes written, to a file. With -D
 * strace is a descendant of the program, so that signals to the started process reach the program itself.
 */
export function straceCommand(file: string): readonly string[] {
  const filters = ["-e", `trace=${TRACED_CALLS}`, "-y", "-xx", "-s", "4194304"];
  return ["strace", "-f", "-D", "--seccomp-bpf", ...filters, "-o", file];
}

/** Whether strace works here; on CI, throws if it does not because a skipped test would hide failures. */
export const isStraceAvailable = ((): boolean => {
  try {
    const [command, ...rest] = [...straceCommand("/dev/null"), "true"];
    execFileSync(command, rest, { stdio: "ignore" });
    return true;
  } catch (error) {
    if (process.env["CI"] === "true") throw new Error("CI requires strace.", { cause: error });
    console.warn("skipped: strace does not work here (apt-get install strace)");
    return false;
  }
})();

/** A system call. Calls of different threads may overlap; a call that starts after another one has ended follows it. */
export interface TracedCall {
  readonly name: string;
  /** Path of the file descriptor in the first parameter, or of the file that the call names. */
  readonly path: string;
  readonly parameters: string;
  /** Positions in the trace. `end` is Infinity and `result` NaN if the program was killed during the call. */
  readonly start: number;
  readonly end: number;
  readonly result: number;
}

export async function readTrace(file: string): Promise<readonly TracedCall[]> {
  const calls: TracedCall[] = [];
  const open = new Map<string, { name: string; parameters: string; start: number }>();
  const lines = (await readFile(file, "latin1")).split("\n");
  const add = (call: { name: string; parameters: string; start: number }, end: number, result: number): void => {
    calls.push({ ...call, path: pathOf(call.parameters), end, result });
  };
  lines.forEach((line, index) => {
    const [, thread = "", rest = ""] = /^(\d+) +([^]*)$/.exec(line) ?? [];
    const [, resumed, result] = /^<\.\.\. (\w+) resumed>[^]*\) += (-?\d+|\?)/.exec(rest) ?? [];
    if (resumed !== undefined) {
      const call = open.get(thread);
      open.delete(thread);
      if (call?.name !== resumed) throw new Error(`The trace resumes a call that did not start: ${line.slice(0, 200)}`);
      add(call, index, Number(result));
      return;
    }
    const started = /^(\w+)\(/.exec(rest);
    if (started === null) return;
    const [head, name = ""] = started;
    if (rest.endsWith("<unfinished ...>")) {
      open.set(thread, { name, parameters: rest.slice(head.length, -"<unfinished ...>".length), start: index });
      return;
    }
    const close = rest.lastIndexOf(") ");
    const [, code] = /^\) += (-?\d+|\?)/.exec(rest.slice(close)) ?? [];
    if (code !== undefined)
      add({ name, parameters: rest.slice(head.length, close), start: index }, index, Number(code));
  });
  for (const call of open.values()) add(call, Infinity, NaN);
  return calls.toSorted((a, b) => a.start - b.start);
}

/** Returns the concatenated bytes of all quoted parameters. */
export function bytesOf({ parameters }: Pick<TracedCall, "parameters">): Buffer {
  const literals = parameters.match(/"(?:\\x[0-9a-f]{2})*"(?:\.\.\.)?/g) ?? [];
  if (literals.some((literal) => literal.endsWith("..."))) throw new Error("The trace has truncated strings.");
  return Buffer.from(literals.map((literal) => literal.slice(1, -1).replaceAll("\\x", "")).join(""), "hex");
}

/** Returns the path from a descriptor such as `3</some/file>`, or else the first quoted parameter. */
function pathOf(parameters: string): string {
  const [, escaped] = /^(?:\d+<((?:\\x[0-9a-f]{2})*)>(?:$|,| ))/.exec(parameters) ?? [];
  if (escaped !== undefined) return Buffer.from(escaped.replaceAll("\\x", ""), "hex").toString();
  const [named = ""] = /"(?:\\x[0-9a-f]{2})*"/.exec(parameters) ?? [];
  return bytesOf({ parameters: named }).toString();
}
