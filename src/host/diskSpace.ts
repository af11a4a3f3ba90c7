import { statfs } from "node:fs/promises";

/** Below the time that Prometheus waits for metrics by default. */
const TIMEOUT_MS = 2_000;

/**
 * Returns a function that reads the free space of the disk of a folder, in bytes. The result is NaN if the disk reports an
 * error or does not respond within two seconds, so that it delays and fails none of the other metrics.
 *
 * A disk that hangs holds a thread of the process for each reading. No further one is started until it has ended.
 */
export function diskSpaceReader(
  folder: string,
  readFreeBytes: (folder: string) => Promise<number> = freeBytesOf,
): () => Promise<number> {
  let reading: Promise<number> | undefined;
  return async () => {
    reading ??= readFreeBytes(folder)
      .catch(() => NaN)
      .finally(() => (reading = undefined));
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<number>((resolve) => (timer = setTimeout(() => resolve(NaN), TIMEOUT_MS)));
    const freeBytes = await Promise.race([reading, timeout]);
    clearTimeout(timer);
    return freeBytes;
  };
}

async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
