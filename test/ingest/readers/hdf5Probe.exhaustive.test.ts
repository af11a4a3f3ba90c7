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
