/** One writer at a time: what keeps two of them out of one atlas folder. */
import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, readlink, rename, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Fault } from "../errors.ts";

const LOCK_NAME = /^\.lock-[0-9a-f-]{36}$/;
/** A lock younger than this may be that of a rival which is about to give way, too. */
const RIVAL_AGE_MS = 5000;
const ATTEMPT_COUNT_MAX = 6;
const RETRY_DELAY_MS = 30;

/** Who holds a lock. */
interface Writer {
  readonly pid: number;
  readonly host: string;
  /** Where the process numbers are counted: containers may share a host's name. Only where the system tells. */
  readonly pid_namespace?: string;
  /** Tells a process from a later one of its number. Only where the system tells. */
  readonly process_start?: string;
  readonly since: string;
}

/** A lock as it is found. */
interface FoundLock {
  readonly name: string;
  /** Undefined where the file cannot be understood. */
  readonly writer: Writer | undefined;
}

/**
 * Runs `write` as the only writer of an atlas folder, which is made where there is none.
 *
 * Every writer has a lock file with a name of its own, looks for others once its own is there, and gives way when it
 * finds one. The later of two always sees the earlier, so that no two go on; and the lock of a process that is no more
 * can be cleared away by anybody without ever hitting a lock taken since. Two that meet at once both give way and try
 * again a little later.
 *
 * @throws Fault `atlas_unavailable` naming process and time, when another process writes there
 */
export async function withWriteLock<T>(folder: string, write: () => Promise<T>): Promise<T> {
  await mkdir(folder, { recursive: true });
  const own = await identify(process.pid);
  for (let attempt = 1; ; attempt++) {
    const name = `.lock-${randomUUID()}`;
    await writeAtOnce(join(folder, name), JSON.stringify({ ...own, since: new Date().toISOString() } satisfies Writer));
    try {
      const rival = await findOther(folder, name);
      if (rival === undefined) return await write();
      if (attempt === ATTEMPT_COUNT_MAX || !isYoung(rival)) throw refusal(folder, rival);
    } finally {
      await rm(join(folder, name), { force: true });
    }
    await delay(Math.random() * RETRY_DELAY_MS * 2 ** attempt);
  }
}

/** The lock of another writer, once those of processes that are no more are out of the way. */
async function findOther(folder: string, own: string): Promise<FoundLock | undefined> {
  for (const name of await readdir(folder)) {
    if (name === own || !LOCK_NAME.test(name)) continue;
    const writer = await readWriter(join(folder, name));
    if (writer === "gone") continue;
    if (writer === undefined || !(await isOver(writer))) return { name, writer };
    await rm(join(folder, name), { force: true });
  }
  return undefined;
}

async function readWriter(path: string): Promise<Writer | "gone" | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "gone";
    throw error;
  }
  try {
    const { pid, host, since, ...more } = JSON.parse(text) as Partial<Writer>;
    return pid === undefined || host === undefined || since === undefined ? undefined : { pid, host, since, ...more };
  } catch {
    return undefined;
  }
}

/** Whether the process is known to be no more. Of other machines nothing is known. */
async function isOver(writer: Writer): Promise<boolean> {
  const here = await identify(process.pid);
  if (writer.host !== here.host || writer.pid_namespace !== here.pid_namespace) return false;
  try {
    process.kill(writer.pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH"; // otherwise it is there and not ours to signal
  }
  const { process_start } = await identify(writer.pid);
  return writer.process_start !== undefined && process_start !== undefined && writer.process_start !== process_start;
}

async function identify(pid: number): Promise<Omit<Writer, "since">> {
  const pid_namespace = await readlink("/proc/self/ns/pid").catch(() => undefined);
  const process_start = await startOf(pid);
  return {
    pid,
    host: hostname(),
    ...(pid_namespace === undefined ? {} : { pid_namespace }),
    ...(process_start === undefined ? {} : { process_start }),
  };
}

/** Boot, and clock ticks from it to the start of the process (proc_pid_stat(5), field 22). Linux only. */
async function startOf(pid: number): Promise<string | undefined> {
  try {
    const boot = (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    // The second field is the program's name in brackets, which may hold anything; the third follows the last of them.
    const ticks = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
    return ticks === undefined ? undefined : `${boot}/${ticks}`;
  } catch {
    return undefined;
  }
}

function isYoung({ writer }: FoundLock): boolean {
  return writer !== undefined && Date.now() - Date.parse(writer.since) < RIVAL_AGE_MS;
}

function refusal(folder: string, { name, writer }: FoundLock): Fault {
  const who =
    writer === undefined
      ? "somebody"
      : `process ${writer.pid} ${writer.host === hostname() ? "on this machine" : `on ${writer.host}`}, since ${writer.since}`;
  return new Fault(
    "atlas_unavailable",
    `${folder} is being written by ${who}. Wait until that is done; if nothing writes there any more, remove ${join(folder, name)}.`,
    { details: { address: folder, lock: name, ...writer } },
  );
}

/** A file that is there whole or not at all. */
async function writeAtOnce(path: string, text: string): Promise<void> {
  const aside = `${path}.aside`;
  try {
    await writeFile(aside, text, { flag: "wx" });
    await rename(aside, path);
  } catch (error) {
    await rm(aside, { force: true });
    throw error;
  }
}
