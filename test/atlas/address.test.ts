import { expect, test } from "vitest";
import { withoutSecrets } from "../../src/atlas/httpBlobs.ts";
import { blobsAt } from "../../src/atlas/packedAtlas.ts";
import { isFault } from "../../src/errors.ts";
import { openAtlas } from "../../src/openAtlas.ts";

test.each([
  ["data/atlas", "data/atlas"],
  ["/srv/atlas?x#y@z", "/srv/atlas?x#y@z"],
  ["C:\\atlas", "C:\\atlas"],
  ["https://example.org/atlas/", "https://example.org/atlas"],
  ["HTTP://example.org:8080", "http://example.org:8080"],
  ["https://kim:secret@example.org/atlas?sig=secret#secret", "https://example.org/atlas"],
])("opens %j and describes it as %j", async (address, description) => {
  const blobs = blobsAt(address);
  expect(blobs.description).toBe(description);
  await blobs.close();
});

test.each([
  ["s3://kim:secret@bucket/atlas?sig=secret", "s3://bucket/atlas"],
  ["ftp://kim@host:secret@example.org", "ftp://example.org"],
  ["file:///srv/atlas#secret", "file:///srv/atlas"],
])("rejects %j and reports it as %j", async (address, reported) => {
  const error: unknown = await openAtlas(address).catch((thrown: unknown) => thrown);
  expect(isFault(error, "atlas_not_found") && error.details).toEqual({ address: reported });
  expect(String(error)).toContain(`a folder, an http or https address, or "demo" (got ${reported}).`);
});

test("removes credentials, query and fragment from an address", () => {
  expect(withoutSecrets("https://kim:secret@example.org/a@b/atlas?sig=1#x")).toBe("https://example.org/a@b/atlas");
  expect(withoutSecrets("https://example.org")).toBe("https://example.org");
  expect(withoutSecrets("demo")).toBe("demo");
});
