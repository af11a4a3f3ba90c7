/** Exclusive write lock on a folder, across processes. */
import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, readlink, rename, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Fault, type FaultCode } from "../errors.ts";
import { withPathInErrors } from "./files.ts";

const LOCK_NAME = /^\.lock-[0-9a-f-]{36}$/;
/** A lock that its process has not written completely. */
const TEMPORARY_NAME = /^\.lock-[0-9a-f-]{36}\.tmp$/;
/** Age below which a lock may belong to a competing writer that will also back off. */
const COMPETITOR_AGE_MS_MAX = 5000;
const ATTEMPT_COUNT_MAX = 6;
const RETRY_DELAY_MS = 30;

/** The process that holds a lock. */
interface Writer {
  readonly pid: number;
  readonly host: string;
  /** PID namespace, because containers may share a host name. Absent if the system does not provide it. */
  readonly pid_namespace?: string;
  /** Start time, which distinguishes processes that reuse a PID. Absent if the system does not provide it. */
  readonly process_start?: string;
  readonly since: string;
}

/** A lock file found in the folder. */
interface FoundLock {
  readonly name: string;
  /** Undefined if the file cannot be parsed. */
  readonly writer: Writer | undefined;
}

/**
 * Runs `write` as the only writer of a folder. Creates the folder if it does not exist.
 *
 * Each writer creates a lock file with a unique name, then looks for other lock files and backs off if there is one. The
 * later of two writers always sees the earlier, so two never run at the same time. Because names are unique, any process
 * can remove the lock of a dead process without removing a newer lock. Two writers that start simultaneously both back off
 * and retry after a random delay.
 *
 * @throws Fault with the given code, which names the process and the time at which it acquired the lock, if another process
 *   is writing
 */
export async function withFolderLock<T>(folder: string, code: FaultCode, write: () => Promise<T>): Promise<T> {
  const own = await identify(process.pid);
  for (let attempt = 1; ; attempt++) {
    const name = `.lock-${randomUUID()}`;
    await writeLock(folder, name, { ...own, since: new Date().toISOString() });
    try {
      const otherLock = await findOther(folder, name);
      if (otherLock === undefined) {
        await removeTemporaryLocks(folder);
        return await write();
      }
      if (attempt === ATTEMPT_COUNT_MAX || !isRecent(otherLock)) throw lockedFault(folder, code, otherLock);
    } finally {
      await rm(join(folder, name), { force: true });
    }
    await delay(Math.random() * RETRY_DELAY_MS * 2 ** attempt);
  }
}

/** Removes the locks of dead processes and returns another writer's lock, if any. */
async function findOther(folder: string, own: string): Promise<FoundLock | undefined> {
  for (const name of await readdir(folder)) {
    if (name === own || !LOCK_NAME.test(name)) continue;
    const writer = await readWriter(join(folder, name));
    if (writer === "missing") continue;
    if (writer === undefined || !(await hasEnded(writer))) return { name, writer };
    await rm(join(folder, name), { force: true });
  }
  return undefined;
}

async function readWriter(path: string): Promise<Writer | "missing" | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "missing";
    throw error;
  }
  try {
    const { pid, host, since, ...optionalMembers } = JSON.parse(text) as Partial<Writer>;
    return pid === undefined || host === undefined || since === undefined
      ? undefined
      : { pid, host, since, ...optionalMembers };
  } catch {
    return undefined;
  }
}

/** Returns whether the process is known to have ended; false for all processes on other machines. */
async function hasEnded(writer: Writer): Promise<boolean> {
  const thisProcess = await identify(process.pid);
  if (writer.host !== thisProcess.host || writer.pid_namespace !== thisProcess.pid_namespace) return false;
  try {
    process.kill(writer.pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH"; // otherwise it exists, but this process may not send it signals
  }
  const { process_start } = await identify(writer.pid);
  return writer.process_start !== undefined && process_start !== undefined && writer.process_start !== process_start;
}

async function identify(pid: number): Promise<Omit<Writer, "since">> {
  const pid_namespace = await readlink("/proc/self/ns/pid").catch(() => undefined);
  const process_start = await processStart(pid);
  return {
    pid,
    host: hostname(),
    ...(pid_namespace === undefined ? {} : { pid_namespace }),
    ...(process_start === undefined ? {} : { process_start }),
  };
}

/** Returns the boot ID and the start time in clock ticks since boot (proc_pid_stat(5), field 22). Linux only. */
async function processStart(pid: number): Promise<string | undefined> {
  try {
    const boot = (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    // The second field is the program name in parentheses and may contain any character; skip to its last parenthesis.
    const ticks = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
    return ticks === undefined ? undefined : `${boot}/${ticks}`;
  } catch {
    return undefined;
  }
}

function isRecent({ writer }: FoundLock): boolean {
  return writer !== undefined && Date.now() - Date.parse(writer.since) < COMPETITOR_AGE_MS_MAX;
}

function lockedFault(folder: string, code: FaultCode, { name, writer }: FoundLock): Fault {
  const writerText =
    writer === undefined
      ? "an unknown process"
      : `process ${writer.pid} ${writer.host === hostname() ? "on this machine" : `on ${writer.host}`}, since ${writer.since}`;
  return new Fault(
    code,
    `${folder} is being written by ${writerText}. Wait until it finishes; if no process is writing anymore, remove ${join(folder, name)}.`,
    { details: { address: folder, lock: name, ...writer } },
  );
}

/** Removes what interrupted writers have left. A writer that is not interrupted writes its lock again. */
async function removeTemporaryLocks(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (TEMPORARY_NAME.test(name)) await rm(join(folder, name), { force: true });
  }
}

/** Writes a lock so that other writers see either the complete file or none. Creates the folder. */
async function writeLock(folder: string, name: string, writer: Writer): Promise<void> {
  const path = join(folder, name);
  const temporaryPath = `${path}.tmp`;
  for (let attempt = 1; ; attempt++) {
    await mkdir(folder, { recursive: true });
    try {
      await withPathInErrors(temporaryPath, writeFile(temporaryPath, JSON.stringify(writer), { flag: "wx" }));
      await rename(temporaryPath, path);
      return;
    } catch (error) {
      await rm(temporaryPath, { force: true });
      // The holder of the lock has removed the temporary file, or the folder when it finished.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || attempt === ATTEMPT_COUNT_MAX) throw error;
    }
  }
}
