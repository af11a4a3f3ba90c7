/** The file operations that write an output, and what the user can do if one fails. */
import { open, rename, rm, stat } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { Fault } from "../../errors.ts";
import { isNotFound, syncFolder, writeSynced } from "../../files/files.ts";
import { withFolderLock } from "../../files/folderLock.ts";

/** Tests replace operations to inject faults. */
export interface OutputDisk {
  readonly lockFolder: typeof withFolderLock;
  readonly open: typeof open;
  readonly writeSynced: typeof writeSynced;
  readonly rename: typeof rename;
  readonly rm: typeof rm;
  readonly syncFolder: typeof syncFolder;
}

export const OUTPUT_DISK: OutputDisk = { lockFolder: withFolderLock, open, writeSynced, rename, rm, syncFolder };

const DISK_ERRORS: Readonly<Record<string, { readonly what: string; readonly advice: string }>> = {
  ENOSPC: { what: "the disk is full", advice: "free space" },
  EDQUOT: { what: "the disk quota is used up", advice: "free space" },
  EFBIG: { what: "the file system does not support files of this size", advice: "use another file system" },
  EIO: { what: "the disk reports an error", advice: "check the disk" },
  EROFS: { what: "the file system is read-only", advice: "make it writable" },
  EACCES: { what: "permission is denied", advice: "grant write permission" },
  EPERM: { what: "permission is denied", advice: "grant write permission" },
};

/**
 * Explains errors of the disk while an output is written: what to do, and that the finished part is kept. Other errors, such
 * as those of the input, are thrown as they are.
 *
 * @param folder the folder of the unfinished output
 * @throws Fault `configuration_invalid`
 */
export async function withDiskAdvice<T>(
  { output, folder }: { readonly output: string; readonly folder: string },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code = "", path = "", message } = error as NodeJS.ErrnoException;
    const known = Object.hasOwn(DISK_ERRORS, code) ? DISK_ERRORS[code] : undefined;
    const isOfOutput = [dirname(output), output, folder].includes(path) || path.startsWith(join(folder, sep));
    if (known === undefined || !isOfOutput) throw error;
    const kept = (await isPresent(folder)) ? `The finished part is kept in ${folder}: ` : "";
    const text =
      `${output} cannot be written: ${known.what} (${message}). ${kept}${known.advice} and run the same command again` +
      `${kept === "" ? "" : " to continue"}.`;
    throw new Fault("configuration_invalid", text, { cause: error, details: { code } });
  }
}

async function isPresent(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}
