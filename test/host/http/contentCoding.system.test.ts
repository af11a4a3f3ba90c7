import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { compressBody } from "../../../src/host/http/contentCoding.ts";
import { ROUTES } from "../../../src/host/routes/routeList.ts";
import { docsFile } from "../../../src/host/routes/docs.ts";
import { openApi } from "../../../src/host/routes/openApi.ts";
import { RouteCaller } from "../routeCaller.ts";

const concatenate = (parts: readonly Uint8Array[]): Buffer => Buffer.concat(parts);

test("compresses a list of parts once per coding", async () => {
  const parts = [Buffer.from("one ".repeat(2000)), Buffer.from("two ".repeat(2000))];
  const br = await compressBody(parts, "br");
  expect(await compressBody(parts, "br")).toBe(br);
  const gzip = await compressBody(parts, "gzip");
  expect(gzip).not.toBe(br);
  expect(brotliDecompressSync(concatenate(br))).toEqual(concatenate(parts));
  expect(gunzipSync(concatenate(gzip))).toEqual(concatenate(parts));
  expect(await compressBody([...parts], "br")).not.toBe(br);
});

test("constant responses return the same list of parts each time", async () => {
  const { services } = new RouteCaller();
  const context = {
    services,
    caller: { accountId: "", keyId: "" },
    requestId: "",
    signal: new AbortController().signal,
  };
  const file = docsFile();
  for (const name of ["swagger-ui-bundle.js", "swagger-ui.css", "start.js"]) {
    const bodyOf = async (): Promise<unknown> => file.reply?.(await file.handle(name, context)).body;
    expect(await bodyOf()).toBe(await bodyOf());
  }
  const document = openApi(() => ROUTES);
  const bodyOf = async (): Promise<unknown> => document.reply?.(await document.handle(undefined, context)).body;
  expect(await bodyOf()).toBe(await bodyOf());
});
