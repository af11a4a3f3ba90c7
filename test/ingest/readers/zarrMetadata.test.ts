import { expect, test } from "vitest";
import { metadataOfVersion3 } from "../../../src/ingest/readers/zarr/metadata.ts";

const BYTES = { name: "bytes", configuration: { endian: "little" } };
const ARRAY = {
  zarr_format: 3,
  node_type: "array",
  shape: [4, 4],
  data_type: "float32",
  chunk_grid: { name: "regular", configuration: { chunk_shape: [4, 4] } },
  chunk_key_encoding: { name: "default" },
  fill_value: 0,
  codecs: [BYTES],
};
const sharded = (configuration: object): object => ({
  ...ARRAY,
  codecs: [{ name: "sharding_indexed", configuration: { chunk_shape: [2, 4], codecs: [BYTES], ...configuration } }],
});

test("supports plain and sharded arrays", () => {
  expect(metadataOfVersion3(ARRAY).unsupported).toBeUndefined();
  expect(metadataOfVersion3({ ...sharded({ index_codecs: [BYTES, { name: "crc32c" }] }) }).unsupported).toBeUndefined();
});

test.each([
  [{ ...ARRAY, chunk_key_encoding: undefined }, /chunk key encoding \(none\); "default" and "v2"/],
  [{ ...ARRAY, chunk_key_encoding: { name: "other" } }, /chunk key encoding "other"/],
  [{ ...ARRAY, codecs: [{}] }, /the codec \(none\), which is not supported/],
  [sharded({ index_codecs: [{ name: 3 }] }), /the codec \(none\)/],
  [sharded({ codecs: [{ name: "zfp" }] }), /the codec "zfp"/],
])("names what is not supported in %j", (array, message) => {
  expect(metadataOfVersion3({ ...array }).unsupported).toMatch(message);
});
