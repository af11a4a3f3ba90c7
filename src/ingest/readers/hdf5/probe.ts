/**
 * Reads the metadata of an HDF5 file in a separate thread first. Some damaged files make the HDF5 library loop forever, which
 * cannot be interrupted in the thread that called it.
 */
import { Worker } from "node:worker_threads";
import { sourceFault } from "../../raster.ts";

/** Reading the metadata of a large file takes less than a second. */
const PROBE_SECONDS_MAX = 30;

/** Program of the thread: reads every attribute and every list of dimension scales. Errors are reported when the file is opened. */
const PROGRAM = `
const { parentPort, workerData } = require("node:worker_threads");
import(workerData.library).then(async (hdf5) => {
  const library = await hdf5.ready;
  library.activate_throwing_error_handler();
  const attempt = (act) => { try { return act(); } catch { return undefined; } };
  const file = new hdf5.File(workerData.path, "r");
  const pending = [{ group: file, depth: 0 }];
  for (let next = pending.pop(); next !== undefined && pending.length < 10000; next = pending.pop()) {
    for (const key of attempt(() => next.group.keys()) ?? []) {
      const path = (next.group.path === "/" ? "" : next.group.path) + "/" + key;
      if (attempt(() => next.group.get_external_link(path).filename) !== undefined) continue;
      const entity = attempt(() => next.group.get(key));
      if (entity instanceof hdf5.Group && next.depth < 16) pending.push({ group: entity, depth: next.depth + 1 });
      if (!(entity instanceof hdf5.Dataset)) continue;
      for (const attribute of Object.values(attempt(() => entity.attrs) ?? {})) {
        if (attribute.metadata.size * attribute.metadata.total_size <= 1048576) attempt(() => attribute.value);
      }
      const count = attempt(() => entity.shape?.length) ?? 0;
      for (let index = 0; index < count; index++) attempt(() => entity.get_attached_scales(index));
      attempt(() => entity.filters);
    }
  }
  file.close();
}).catch(() => undefined).finally(() => parentPort.postMessage("done"));
`;

/**
 * Checks that the metadata of a file can be read in bounded time.
 * @param library the address of the module h5wasm
 * @throws Fault `source_invalid` if they cannot; the abort reason of the signal
 */
export async function probeHdf5(
  file: string,
  {
    library,
    path,
    secondsMax = PROBE_SECONDS_MAX,
  }: { readonly library: string; readonly path: string; readonly secondsMax?: number },
): Promise<void> {
  const worker = new Worker(PROGRAM, { eval: true, workerData: { library, path }, stdout: true, stderr: true });
  let timer: NodeJS.Timeout | undefined;
  try {
    const isDone = await new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), secondsMax * 1000);
      worker.once("message", () => resolve(true));
      // A thread that crashes does not loop; opening the file reports the error.
      worker.once("error", () => resolve(true));
      worker.once("exit", () => resolve(true));
    });
    if (!isDone)
      throw sourceFault(file, `its metadata could not be read within ${secondsMax} seconds. The file is damaged.`);
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
