import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { probeHdf5 } from "../../../src/ingest/readers/hdf5/probe.ts";

const library = import.meta.resolve("h5wasm/node");
const pathOf = (name: string): string => fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url));

test("rejects a damaged file whose metadata the HDF5 library reads forever", async () => {
  // arrays/hdf5.h5 with damaged bytes, found by readerFuzz: the text of an attribute never ends.
  const probe = probeHdf5("map.h5", { library, path: pathOf("endless.h5"), secondsMax: 5 });
  await expect(probe).rejects.toThrow("map.h5: its metadata could not be read within 5 seconds. The file is damaged.");
});

test.each(["arrays/hdf5.h5", "arrays/netcdf4.nc", "arrays/maps.json"])("accepts %s", async (name) => {
  await expect(probeHdf5("map.h5", { library, path: pathOf(name) })).resolves.toBeUndefined();
});

test("accepts a file before and after a damaged one", async () => {
  const read = (name: string) => probeHdf5(name, { library, path: pathOf(name), secondsMax: 2 });
  await expect(read("arrays/netcdf4.nc")).resolves.toBeUndefined();
  // The first thread has read another file, so the damaged file is read again in a new thread.
  await expect(read("endless.h5")).rejects.toThrow("within 2 seconds");
  await expect(read("arrays/netcdf4.nc")).resolves.toBeUndefined();
});

test("probes files that are opened at the same time", async () => {
  const names = ["arrays/hdf5.h5", "endless.h5", "arrays/netcdf4.nc"];
  const results = await Promise.allSettled(
    names.map((name) => probeHdf5(name, { library, path: pathOf(name), secondsMax: 2 })),
  );
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
});

/** A library that fails with a WebAssembly trap at its file `trapAt`, counted from 1; all files are empty. */
function trappingLibrary(trapAt: number): string {
  const source = `
    let count = 0;
    export const ready = Promise.resolve({ activate_throwing_error_handler() {} });
    export class Group { keys() { return []; } }
    export class Dataset {}
    export class File extends Group {
      constructor() { super(); if (++count >= ${trapAt}) throw new WebAssembly.RuntimeError("out of bounds"); }
      close() {}
    }`;
  return `data:text/javascript,${encodeURIComponent(source)}`;
}

test("rejects a file that makes the library access invalid memory", async () => {
  const probe = probeHdf5("map.h5", { library: trappingLibrary(1), path: "/map.h5" });
  await expect(probe).rejects.toThrow(
    "map.h5: its metadata make the HDF5 library fail (invalid memory access). The file is damaged.",
  );
});

test("reads a file again in a new thread if the library fails after other files", async () => {
  const options = { library: trappingLibrary(3), path: "/map.h5" };
  for (let file = 0; file < 5; file++) await expect(probeHdf5("map.h5", options)).resolves.toBeUndefined();
});

test("does not read lists of references, whose damaged length would end the process", async () => {
  // Attributes of the classes integer (0) and list of variable length (9).
  const source = `
    export const ready = Promise.resolve({ activate_throwing_error_handler() {} });
    const attribute = (type) => ({
      metadata: { type, size: 8, total_size: 1 },
      get value() { throw new WebAssembly.RuntimeError("read class " + type); },
    });
    export class Group {}
    export class Dataset { attrs = { first: attribute(globalThis.classRead) }; shape = []; }
    export class File extends Group {
      constructor(path) { super(); globalThis.classRead = Number(path); }
      path = "/";
      keys() { return ["depth"]; }
      get() { return new Dataset(); }
      get_external_link() { return {}; }
      close() {}
    }`;
  const library = `data:text/javascript,${encodeURIComponent(source)}`;
  await expect(probeHdf5("map.h5", { library, path: "9" })).resolves.toBeUndefined();
  await expect(probeHdf5("map.h5", { library, path: "0" })).rejects.toThrow("invalid memory access");
});
