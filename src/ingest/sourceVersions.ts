/**
 * Versions of sources, which ensure that no atlas mixes two versions of a map. A file is identified by its SHA-256, a
 * remote file by its HTTP validators. An interrupted ingest continues only with the versions that it started with, and
 * nothing is published unless every source is still at the version that was read.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, readFile, rename, stat } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createSHA256 } from "hash-wasm";
import { writeSynced } from "../files/files.ts";
import { WORK_PREFIX } from "../atlas/packWork.ts";
import type { Stopped } from "../atlas/writer.ts";
import { type Fault, isFault } from "../errors.ts";
import { sourceFault } from "./raster.ts";
import { archivePathOf } from "./readers/zip.ts";

/** Identifies one version of a source; written to the provenance unchanged. */
export interface SourceVersion {
  /**
   * Hexadecimal SHA-256 of a local file. For a map in a zip archive, of the archive; for a folder (Zarr), of a list with path,
   * size and content of every file.
   */
  readonly sha256?: string;
  readonly etag?: string;
  readonly last_modified?: string;
  readonly size_bytes?: number;
  /** Present if the server sends no usable validators. An interrupted ingest then starts again from the beginning. */
  readonly version_unknown?: true;
}

const HASH_CHUNK_BYTES = 4 << 20;
const HEAD_TIMEOUT_MS = 10_000;
const HEAD_ATTEMPT_COUNT = 3;
const HEAD_RETRY_DELAY_MS = 300;
/**
 * A file that changed more recently than this may change again with the same timestamps, because their resolution is
 * limited.
 */
const SETTLED_MS = 3000;
/** Minimum time between two saved hash states of a file; the first state is saved after the first chunk. */
const HASH_CHECKPOINT_MS = 1000;
/** Caches hashes of files, complete and in progress, for the next run if this one is interrupted. */
export const KNOWN_HASHES_NAME = `${WORK_PREFIX}sources.json`;

/** File system metadata of a file. Every write updates `ctime`, and programs cannot set it. */
interface FileState {
  /** Device, inode, size, modification and change time in nanoseconds. */
  readonly identity: string;
  readonly sizeBytes: number;
  readonly isSettled: boolean;
  /** The files of a folder, in the order of their names; undefined for a file. */
  readonly files?: readonly { readonly name: string; readonly sizeBytes: number }[];
}

/** State of a hash (base64) after the first bytes of a file. */
interface HashProgress {
  readonly hashedBytes: number;
  readonly state: string;
}

type KnownHash = { readonly identity: string } & ({ readonly sha256: string } | HashProgress);

const isRemote = (file: string): boolean => /^https?:\/\//.test(file);

/** The sources of one ingest. */
export class SourceVersions {
  readonly #folder: string;
  readonly #signal: AbortSignal | undefined;
  /** Identity of each local file when it was opened. */
  readonly #openedIdentities = new Map<string, string>();
  readonly #versions = new Map<string, SourceVersion>();
  #known: Map<string, KnownHash> | undefined;

  /** @param options `folder`: the atlas folder, where hashes are cached until the ingest is published */
  constructor({ folder, signal }: { readonly folder: string; readonly signal?: AbortSignal | undefined }) {
    this.#folder = folder;
    this.#signal = signal;
  }

  /** Records the version of a source before it is read. A missing source is reported by the reader. */
  async recordOpening(file: string): Promise<void> {
    if (this.#openedIdentities.has(file) || this.#versions.has(file)) return;
    if (isRemote(file)) {
      this.#versions.set(file, await this.#remoteVersionIfKnown(file));
      return;
    }
    const state = await fileStateOf(await storedPathOf(file)).catch(() => undefined);
    if (state !== undefined) this.#openedIdentities.set(file, state.identity);
  }

  /**
   * Determines the version of each source. Hashes files that have no cached hash. Versions of remote sources are recorded
   * when they are opened.
   * @throws Fault `source_invalid` if a source changed since it was opened
   */
  async identify(files: Iterable<string>): Promise<void> {
    for (const file of files) {
      if (isRemote(file)) await this.recordOpening(file);
      if (this.#versions.has(file)) continue;
      const { version, identity } = await this.#readFile(file);
      const openedIdentity = this.#openedIdentities.get(file);
      if (openedIdentity !== undefined && openedIdentity !== identity)
        throw changedFault(file, "while it was being opened");
      this.#versions.set(file, version);
    }
  }

  async #remoteVersionIfKnown(file: string): Promise<SourceVersion> {
    try {
      return await remoteVersion(file, this.#signal);
    } catch {
      this.#signal?.throwIfAborted();
      return { version_unknown: true };
    }
  }

  /** Returns the version determined by `identify`. */
  versionOf(file: string): SourceVersion {
    return this.#versions.get(file) ?? { version_unknown: true };
  }

  /** Returns the reason not to publish if a source is no longer at the version that was read, or cannot be checked. */
  async recheck(files: Iterable<string>): Promise<Stopped | undefined> {
    for (const file of files) {
      const before = this.versionOf(file);
      if (before.version_unknown === true) continue;
      let now: SourceVersion;
      try {
        now = isRemote(file) ? await remoteVersion(file, this.#signal) : (await this.#readFile(file)).version;
      } catch (error) {
        this.#signal?.throwIfAborted();
        if (isFault(error)) return { fault: error, keepsWork: false };
        const why = error instanceof Error ? error.message : String(error);
        const fault = sourceFault(
          file,
          `its version could not be checked after reading (${why}), so nothing was published. ` +
            `Make the source readable and run the same command again to continue.`,
          { cause: error },
        );
        return { fault, keepsWork: true };
      }
      if (JSON.stringify(now) !== JSON.stringify(before))
        return { fault: changedFault(file, "while it was being read"), keepsWork: false };
    }
    return undefined;
  }

  async #readFile(file: string): Promise<{ readonly version: SourceVersion; readonly identity: string }> {
    const path = resolve(await storedPathOf(file));
    const before = await fileStateOf(path);
    const known = await this.#loadKnownHashes();
    const entry = known.get(path);
    const isKnown = entry?.identity === before.identity && before.isSettled;
    if (isKnown && "sha256" in entry) return fileVersion(before, entry.sha256);
    const sha256 = await this.#hash(path, before, {
      resume: isKnown && "state" in entry ? entry : undefined,
      save: async (progress) => {
        if (!before.isSettled) return;
        known.set(path, { identity: before.identity, ...progress });
        await this.#saveKnownHashes(known);
      },
    });
    const after = await fileStateOf(path);
    if (after.identity !== before.identity) throw changedFault(file, "while it was being hashed");
    if (before.isSettled) {
      known.set(path, { identity: before.identity, sha256 });
      await this.#saveKnownHashes(known);
    }
    return fileVersion(before, sha256);
  }

  /** Hashes a file from the beginning or from a saved state, and saves the state periodically. Folders are hashed at once. */
  async #hash(
    path: string,
    { files }: FileState,
    { resume, save }: { readonly resume: HashProgress | undefined; save(progress: HashProgress): Promise<void> },
  ): Promise<string> {
    const hash = await createSHA256();
    let hashedBytes = 0;
    hash.init();
    if (files !== undefined) {
      for (const { name, sizeBytes } of files) {
        hash.update(`${name}\0${sizeBytes}\0`);
        for await (const chunk of createReadStream(join(path, name), { highWaterMark: HASH_CHUNK_BYTES })) {
          this.#signal?.throwIfAborted();
          hash.update(chunk as Uint8Array);
        }
      }
      return hash.digest("hex");
    }
    try {
      if (resume !== undefined) hash.load(Buffer.from(resume.state, "base64"));
      hashedBytes = resume?.hashedBytes ?? 0;
    } catch {
      hash.init(); // the state is damaged or was saved by another version of hash-wasm
    }
    let savedMs = -Infinity;
    for await (const chunk of createReadStream(path, { start: hashedBytes, highWaterMark: HASH_CHUNK_BYTES })) {
      this.#signal?.throwIfAborted();
      hash.update(chunk as Uint8Array);
      hashedBytes += (chunk as Uint8Array).length;
      if (performance.now() - savedMs < HASH_CHECKPOINT_MS) continue;
      await save({ hashedBytes, state: Buffer.from(hash.save()).toString("base64") });
      savedMs = performance.now();
    }
    return hash.digest("hex");
  }

  async #loadKnownHashes(): Promise<Map<string, KnownHash>> {
    if (this.#known !== undefined) return this.#known;
    let entries: readonly [string, KnownHash][] = [];
    try {
      entries = JSON.parse(await readFile(join(this.#folder, KNOWN_HASHES_NAME), "utf8")) as typeof entries;
    } catch {
      // Absent or damaged: files are hashed again.
    }
    return (this.#known = new Map(entries));
  }

  async #saveKnownHashes(known: ReadonlyMap<string, KnownHash>): Promise<void> {
    const path = join(this.#folder, KNOWN_HASHES_NAME);
    await writeSynced(`${path}.tmp`, new TextEncoder().encode(JSON.stringify([...known])));
    await rename(`${path}.tmp`, path);
  }
}

function fileVersion({ identity, sizeBytes }: FileState, sha256: string) {
  return { version: { sha256, size_bytes: sizeBytes }, identity };
}

/** Returns the path that is hashed: that of the archive if the source is in one. */
async function storedPathOf(file: string): Promise<string> {
  return (await archivePathOf(file))?.archive ?? file;
}

async function fileStateOf(path: string): Promise<FileState> {
  const entry = await stat(path, { bigint: true });
  if (entry.isDirectory()) return folderStateOf(path);
  const { dev, ino, size, mtimeNs, ctimeNs, ctimeMs } = entry;
  return {
    identity: [dev, ino, size, mtimeNs, ctimeNs].join("/"),
    sizeBytes: Number(size),
    isSettled: Date.now() - Number(ctimeMs) > SETTLED_MS,
  };
}

async function folderStateOf(path: string): Promise<FileState> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(path, join(entry.parentPath, entry.name)).replaceAll("\\", "/"))
    .toSorted();
  const identities = createHash("sha256");
  const files: { readonly name: string; readonly sizeBytes: number }[] = [];
  let isSettled = true;
  for (const name of names) {
    const state = await fileStateOf(join(path, name));
    identities.update(`${name}\0${state.identity}\0`);
    files.push({ name, sizeBytes: state.sizeBytes });
    isSettled &&= state.isSettled;
  }
  return {
    identity: identities.digest("hex"),
    sizeBytes: files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    isSettled,
    files,
  };
}

/**
 * Returns the validators of a remote file. A weak ETag does not guarantee equal bytes, so it is used only with a date.
 */
async function remoteVersion(file: string, signal: AbortSignal | undefined): Promise<SourceVersion> {
  const headers = await fetchHeaders(file, signal);
  const etag = headers.get("etag");
  const date = headers.get("last-modified");
  const isStrong = etag !== null && !etag.startsWith("W/");
  if (!isStrong && date === null) return { version_unknown: true };
  const range = /\/(\d+)$/.exec(headers.get("content-range") ?? "")?.[1];
  const size = range ?? headers.get("content-length");
  return {
    ...(etag === null ? {} : { etag }),
    ...(date === null ? {} : { last_modified: date }),
    ...(size === null ? {} : { size_bytes: Number(size) }),
  };
}

/**
 * Returns the response headers of a HEAD request, or of a GET request for the first byte if HEAD fails.
 * @throws the abort reason of the signal; the last error if all attempts fail
 */
async function fetchHeaders(file: string, signal: AbortSignal | undefined): Promise<Headers> {
  for (let attempt = 1; ; attempt++) {
    try {
      const head = await fetchWithTimeout(file, { method: "HEAD" }, signal);
      if (head.ok) return head.headers;
      const first = await fetchWithTimeout(file, { headers: { Range: "bytes=0-0" } }, signal);
      await first.body?.cancel();
      if (first.ok) return first.headers;
      throw new Error(`HTTP ${first.status}`);
    } catch (error) {
      signal?.throwIfAborted();
      if (attempt === HEAD_ATTEMPT_COUNT) throw error;
      await delay(HEAD_RETRY_DELAY_MS * 2 ** attempt);
    }
  }
}

async function fetchWithTimeout(file: string, init: RequestInit, signal: AbortSignal | undefined): Promise<Response> {
  signal?.throwIfAborted();
  // Not AbortSignal.timeout: Node 22.12 collects its signal, with the timer, while only AbortSignal.any refers to it.
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), HEAD_TIMEOUT_MS);
  try {
    return await fetch(file, {
      ...init,
      signal: AbortSignal.any([timeout.signal, ...(signal === undefined ? [] : [signal])]),
    });
  } finally {
    clearTimeout(timer);
  }
}

function changedFault(file: string, when: string): Fault {
  return sourceFault(
    file,
    `was replaced or changed ${when}. Nothing was published: an atlas must not mix two versions of a map. ` +
      `Run the ingest again when the map is no longer being changed.`,
  );
}
