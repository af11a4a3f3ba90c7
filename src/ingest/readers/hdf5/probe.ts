/**
 * Reads the metadata of an HDF5 file in a separate thread first. Some damaged files make the HDF5 library loop forever, which
 * cannot be interrupted in the thread that called it; others make it access memory that it does not have.
 */
import { Worker } from "node:worker_threads";
import { messageOf, sourceFault } from "../../raster.ts";
import { ATTRIBUTE_BYTES_MAX, READ_CLASSES } from "./attributes.ts";

/** Reading the metadata of a large file takes less than a second. */
const PROBE_SECONDS_MAX = 30;
/** A file that takes longer in a thread that has read other files is read again in a new thread, which has the whole time. */
const REUSED_SECONDS_MAX = 5;
/** A thread is replaced after this many files, because the memory of the library is never returned. */
const FILES_PER_THREAD_MAX = 500;
/**
 * Limits of the thread's heap. Some damaged files have lists that never end; without limits, they end the process. The memory
 * of the library is not part of the heap.
 */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 } as const;
/** An idle thread ends after this time. */
const IDLE_MS = 1000;

/**
 * Program of the thread: reads every attribute that the reader reads, and every list of dimension scales, of each file whose
 * path it receives. Lists of references are not read: if their length is damaged, h5wasm ends the process.
 * Ordinary errors are reported when the file is opened. After a WebAssembly trap the state of the library is undefined.
 */
const PROGRAM = `
const { parentPort, workerData } = require("node:worker_threads");
const isSmall = ({ size, total_size }) => Math.max(1, size) * total_size <= workerData.attributeBytesMax;
const isTrap = (error) => error instanceof WebAssembly.RuntimeError;
const attempt = (act) => { try { return act(); } catch (error) { if (isTrap(error)) throw error; return undefined; } };
const probe = (hdf5, path) => {
  const file = new hdf5.File(path, "r");
  const pending = [{ group: file, depth: 0 }];
  for (let next = pending.pop(); next !== undefined && pending.length < 10000; next = pending.pop()) {
    for (const key of attempt(() => next.group.keys()) ?? []) {
      const path = (next.group.path === "/" ? "" : next.group.path) + "/" + key;
      if (attempt(() => next.group.get_external_link(path).filename) !== undefined) continue;
      const entity = attempt(() => next.group.get(key));
      if (entity instanceof hdf5.Group && next.depth < 16) pending.push({ group: entity, depth: next.depth + 1 });
      if (!(entity instanceof hdf5.Dataset)) continue;
      for (const attribute of Object.values(attempt(() => entity.attrs) ?? {})) {
        if (workerData.classes.includes(attribute.metadata.type) && isSmall(attribute.metadata)) attempt(() => attribute.value);
      }
      const count = attempt(() => entity.shape?.length) ?? 0;
      for (let index = 0; index < count; index++) attempt(() => entity.get_attached_scales(index));
      attempt(() => entity.filters);
    }
  }
  file.close();
};
const opened = import(workerData.library).then(async (hdf5) => {
  const library = await hdf5.ready;
  library.activate_throwing_error_handler();
  return hdf5;
});
parentPort.on("message", (path) => {
  opened.then((hdf5) => probe(hdf5, path)).then(
    () => parentPort.postMessage("read"),
    (error) => parentPort.postMessage(isTrap(error) ? "trapped" : "read"),
  );
});
`;

type ProbeResult = { readonly kind: "read" | "timed out" } | { readonly kind: "failed"; readonly why: string };

const INVALID_ACCESS = "invalid memory access";

interface ProbeOptions {
  /** The address of the module h5wasm. */
  readonly library: string;
  readonly path: string;
  readonly secondsMax?: number;
}

/** A thread that probes one file at a time. */
class ProbeThread {
  readonly #worker: Worker;
  readonly library: string;
  #idleTimer: NodeJS.Timeout | undefined;
  #hasEnded = false;
  fileCount = 0;

  constructor(library: string) {
    this.library = library;
    this.#worker = new Worker(PROGRAM, {
      eval: true,
      workerData: { library, classes: [...READ_CLASSES], attributeBytesMax: ATTRIBUTE_BYTES_MAX },
      resourceLimits: RESOURCE_LIMITS,
      stdout: true,
      stderr: true,
    });
    this.#worker.unref();
    this.#worker.on("error", () => undefined); // reported to the current probe
    this.#worker.on("exit", () => (this.#hasEnded = true));
  }

  get isUsable(): boolean {
    return !this.#hasEnded && this.fileCount < FILES_PER_THREAD_MAX;
  }

  async probe({ path, secondsMax = PROBE_SECONDS_MAX }: ProbeOptions): Promise<ProbeResult> {
    clearTimeout(this.#idleTimer);
    const seconds = this.fileCount === 0 ? secondsMax : Math.min(secondsMax, REUSED_SECONDS_MAX);
    this.fileCount++;
    const worker = this.#worker;
    worker.ref();
    let timer: NodeJS.Timeout | undefined;
    const listeners = new AbortController();
    try {
      return await new Promise<ProbeResult>((resolve) => {
        const on = (event: "message" | "error" | "exit", listener: (value: unknown) => void): void => {
          worker.once(event, listener);
          listeners.signal.addEventListener("abort", () => worker.off(event, listener));
        };
        timer = setTimeout(() => resolve({ kind: "timed out" }), seconds * 1000);
        on("message", (message) => resolve(message === "read" ? { kind: message } : failed(INVALID_ACCESS)));
        on("error", (error) => resolve(failed(messageOf(error))));
        on("exit", () => resolve(failed("its thread ended")));
        worker.postMessage(path, []);
      });
    } finally {
      clearTimeout(timer);
      listeners.abort();
      if (!this.#hasEnded) worker.unref();
      this.#idleTimer = setTimeout(() => void this.end(), IDLE_MS);
      this.#idleTimer.unref();
    }
  }

  async end(): Promise<void> {
    clearTimeout(this.#idleTimer);
    this.#hasEnded = true;
    await this.#worker.terminate();
  }
}

function failed(why: string): ProbeResult {
  return { kind: "failed", why };
}

let thread: ProbeThread | undefined;
/** Settles when all probes that were started have ended. */
let lastProbe: Promise<unknown> = Promise.resolve();

/**
 * Checks that the metadata of a file can be read in bounded time.
 *
 * Files share a thread. If a file fails in a thread that probed other files before, it is probed again in a new thread, so
 * that the result does not depend on other files.
 *
 * @throws Fault `source_invalid` if the metadata cannot be read
 */
export async function probeHdf5(file: string, options: ProbeOptions): Promise<void> {
  const probe = lastProbe.then(() => probeTwice(options));
  lastProbe = probe.catch(() => undefined);
  const result = await probe;
  if (result.kind === "timed out") {
    const { secondsMax = PROBE_SECONDS_MAX } = options;
    throw sourceFault(file, `its metadata could not be read within ${secondsMax} seconds. The file is damaged.`);
  }
  if (result.kind === "failed")
    throw sourceFault(file, `its metadata make the HDF5 library fail (${result.why}). The file is damaged.`);
}

async function probeTwice(options: ProbeOptions): Promise<ProbeResult> {
  for (;;) {
    if (thread?.isUsable !== true || thread.library !== options.library) {
      await thread?.end();
      thread = new ProbeThread(options.library);
    }
    const isFirst = thread.fileCount === 0;
    const result = await thread.probe(options);
    if (result.kind === "read") return result;
    await thread.end();
    if (isFirst) return result;
  }
}
