import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";

/** What of a program is looked at: what it writes to files and sockets, and when it has that put on disk. */
const CALLS =
  "openat,creat,rename,renameat2,unlink,unlinkat,truncate,ftruncate,fallocate," +
  "write,writev,pwrite64,pwritev,pwritev2,sendto,sendmsg,sendfile,copy_file_range," +
  "fsync,fdatasync,sync_file_range,msync";

/**
 * The command under which a program has its calls written to a file, with all bytes that it writes. The program is
 * strace's parent, not its child, so that it is started and killed as without.
 */
export function tracedInto(file: string): readonly string[] {
  const what = ["-e", `trace=${CALLS}`, "-y", "-xx", "-s", "4194304"];
  return ["strace", "-f", "-D", "--seccomp-bpf", ...what, "-o", file];
}

/** On CI a skipped test would be a check that cannot fail. */
export const isTraceable = ((): boolean => {
  try {
    const [command, ...rest] = [...tracedInto("/dev/null"), "true"];
    execFileSync(command, rest, { stdio: "ignore" });
    return true;
  } catch (error) {
    if (process.env["CI"] === "true") throw new Error("strace is needed on CI.", { cause: error });
    console.warn("skipped: strace does not run here (apt-get install strace)");
    return false;
  }
})();

/** A call of the system. What began after another one had ended came after it. */
export interface TracedCall {
  readonly name: string;
  /** Of the file that the first parameter stands for. */
  readonly path: string;
  readonly parameters: string;
  /** Position in the trace; it has not ended where the program was killed in it. */
  readonly began: number;
  readonly ended: number;
  readonly result: number;
}

export async function readTrace(file: string): Promise<readonly TracedCall[]> {
  const calls: TracedCall[] = [];
  const open = new Map<string, { name: string; parameters: string; began: number }>();
  const lines = (await readFile(file, "latin1")).split("\n");
  const add = (call: { name: string; parameters: string; began: number }, ended: number, result: number): void => {
    calls.push({ ...call, path: pathOf(call.parameters), ended, result });
  };
  lines.forEach((line, index) => {
    const [, thread = "", rest = ""] = /^(\d+) +([^]*)$/.exec(line) ?? [];
    const [, resumed, result] = /^<\.\.\. (\w+) resumed>[^]*\) += (-?\d+|\?)/.exec(rest) ?? [];
    if (resumed !== undefined) {
      const call = open.get(thread);
      open.delete(thread);
      if (call?.name !== resumed) throw new Error(`The trace ends a call that did not begin: ${line.slice(0, 200)}`);
      add(call, index, Number(result));
      return;
    }
    const begun = /^(\w+)\(/.exec(rest);
    if (begun === null) return;
    const [head, name = ""] = begun;
    if (rest.endsWith("<unfinished ...>")) {
      open.set(thread, { name, parameters: rest.slice(head.length, -"<unfinished ...>".length), began: index });
      return;
    }
    const end = rest.lastIndexOf(") ");
    const [, done] = /^\) += (-?\d+|\?)/.exec(rest.slice(end)) ?? [];
    if (done !== undefined) add({ name, parameters: rest.slice(head.length, end), began: index }, index, Number(done));
  });
  for (const call of open.values()) add(call, Infinity, NaN);
  return calls.toSorted((a, b) => a.began - b.began);
}

/** All text and bytes between quotation marks, one after the other. */
export function bytesOf({ parameters }: Pick<TracedCall, "parameters">): Buffer {
  const literals = parameters.match(/"(?:\\x[0-9a-f]{2})*"(?:\.\.\.)?/g) ?? [];
  if (literals.some((literal) => literal.endsWith("..."))) throw new Error("The trace is cut short.");
  return Buffer.from(literals.map((literal) => literal.slice(1, -1).replaceAll("\\x", "")).join(""), "hex");
}

/** Of an open file, as `3</some/file>`; of calls that name one, its name. */
function pathOf(parameters: string): string {
  const [, escaped] = /^(?:\d+<((?:\\x[0-9a-f]{2})*)>(?:$|,| ))/.exec(parameters) ?? [];
  if (escaped !== undefined) return Buffer.from(escaped.replaceAll("\\x", ""), "hex").toString();
  const [named = ""] = /"(?:\\x[0-9a-f]{2})*"/.exec(parameters) ?? [];
  return bytesOf({ parameters: named }).toString();
}
