import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { ZarrFiles } from "../../../src/ingest/readers/zarr/store.ts";
import { openZarr } from "../../../src/ingest/readers/zarr/zarr.ts";

/** A store of version 2 or 3 in memory: an array of 2 x 3 numbers in one chunk. */
function storeOf({ version, chunk, isCompressed }: StoreSpec): ZarrFiles {
  const metadata2 = {
    zarr_format: 2,
    shape: [2, 3],
    chunks: [2, 3],
    dtype: "<i2",
    order: "C",
    fill_value: 0,
    filters: null,
    compressor: isCompressed ? { id: "gzip", level: 5 } : null,
  };
  const metadata3 = {
    zarr_format: 3,
    node_type: "array",
    shape: [2, 3],
    data_type: "int16",
    chunk_grid: { name: "regular", configuration: { chunk_shape: [2, 3] } },
    chunk_key_encoding: { name: "default" },
    fill_value: 0,
    codecs: [
      { name: "bytes", configuration: { endian: "little" } },
      ...(isCompressed ? [{ name: "gzip", configuration: { level: 5 } }] : []),
    ],
    attributes: {},
  };
  const json = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
  const stored = isCompressed ? new Uint8Array(gzipSync(chunk)) : chunk;
  const keys: Readonly<Record<string, Uint8Array>> =
    version === 2 ? { ".zarray": json(metadata2), "0.0": stored } : { "zarr.json": json(metadata3), "c/0/0": stored };
  return { read: (key) => Promise.resolve(keys[key]), foldersIn: () => Promise.resolve([]) };
}

interface StoreSpec {
  readonly version: 2 | 3;
  readonly chunk: Uint8Array;
  readonly isCompressed: boolean;
}

const NUMBERS = Int16Array.of(1, -2, 3, 4, 5, 6);
const WHOLE = new Uint8Array(NUMBERS.buffer);

async function readAll(spec: StoreSpec) {
  const { variables } = await openZarr("store.zarr", storeOf(spec));
  return variables.get("array")?.read([
    { first: 0, end: 2 },
    { first: 0, end: 3 },
  ]);
}

const KINDS = ([2, 3] as const).flatMap((version) => [
  { version, isCompressed: false },
  { version, isCompressed: true },
]);

describe.each(KINDS)("a chunk of %o", (kind) => {
  test("is read if it has all numbers of the chunk", async () => {
    expect(await readAll({ ...kind, chunk: WHOLE })).toEqual(NUMBERS);
  });

  test.each([
    ["fewer", WHOLE.subarray(0, 8)],
    ["no", WHOLE.subarray(0, 0)],
    ["more", new Uint8Array([...WHOLE, 7, 0])],
  ])("is rejected if it has %s numbers, instead of filling cells with 0", async (_, chunk) => {
    await expect(readAll({ ...kind, chunk })).rejects.toThrow(/chunk 0, 0 has \d values instead of 6/);
  });
});

describe("an array of a group", () => {
  /** Returns a group with one array. */
  const groupWith = (name: string): ZarrFiles => {
    const { read } = storeOf({ version: 3, chunk: WHOLE, isCompressed: false });
    const prefix = `${name}/`;
    return {
      read: (key, range) => {
        if (key === "zarr.json")
          return Promise.resolve(new TextEncoder().encode('{ "zarr_format": 3, "node_type": "group" }'));
        return key.startsWith(prefix) ? read(key.slice(prefix.length), range) : Promise.resolve(undefined);
      },
      foldersIn: (folder) => Promise.resolve(folder === "" ? [name] : []),
    };
  };

  test.each(["a#b", "a?b", "a%20b", String.raw`a\b`])(
    "is not supported with the name %s, which is no address",
    async (name) => {
      const { variables } = await openZarr("store.zarr", groupWith(name));
      expect(variables.get(name)?.unsupported).toMatch(/one of the characters # \? % \\ in its name/);
    },
  );

  test("is read with any other name", async () => {
    const { variables } = await openZarr("store.zarr", groupWith("Tiefe in m"));
    const depth = variables.get("Tiefe in m");
    expect(depth?.unsupported).toBeUndefined();
    expect(
      await depth?.read([
        { first: 0, end: 2 },
        { first: 0, end: 3 },
      ]),
    ).toEqual(NUMBERS);
  });
});
