/** The memory that is counted while responses are compressed. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { AdmissionControl } from "../../../src/host/admission/admissionControl.ts";
import { VALID_QUERY } from "../../hazard/queries.ts";
import { ENTITY } from "../entities.ts";
import { ALIGNMENT_PATH, startTestHost, type TestHost } from "../testHost.ts";

const PATH = `${ALIGNMENT_PATH}?detail=true`;
/** The result is longer than 16 KiB. */
const BODY = JSON.stringify(Array.from({ length: 20 }, () => ENTITY));

let host: TestHost;
beforeEach(async () => {
  host = await startTestHost();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await host.close();
});

const send = async (coding: string, init: { readonly body?: string } = { body: BODY }): Promise<Response> => {
  const headers = { "Accept-Encoding": coding, "Content-Type": "application/json" };
  const response = await host.ask(PATH, { method: "POST", headers, ...init });
  expect(response.status).toBe(200);
  return response;
};

test.each(["gzip", "br"])("include a response and its copy until it is compressed with %s", async (coding) => {
  const held = vi.spyOn(AdmissionControl.prototype, "holdAnswer");
  const counted = vi.spyOn(AdmissionControl.prototype, "holdResponse");
  const identity = await (await send("identity")).text();
  expect(identity.length).toBeGreaterThan(16_384);
  expect(held).not.toHaveBeenCalled();
  expect(counted).toHaveBeenCalledTimes(1);
  const compressed = await send(coding);
  expect(compressed.headers.get("Content-Encoding")).toBe(coding);
  expect(await compressed.text()).toBe(identity);
  expect(held.mock.calls.map(([, sizeBytes]) => sizeBytes)).toStrictEqual([2 * identity.length]);
  const [slot] = held.mock.calls[0] ?? [];
  await expect.poll(() => slot?.account?.memoryBytes).toBe(0);
});

test("do not include a short response", async () => {
  const held = vi.spyOn(AdmissionControl.prototype, "holdAnswer");
  const response = await send("gzip", { body: JSON.stringify([ENTITY]) });
  expect(response.headers.get("Content-Encoding")).toBe("gzip");
  expect(held).not.toHaveBeenCalled();
});

test("include a response of bytes once, and what has been compressed of it", async () => {
  const held = vi.spyOn(AdmissionControl.prototype, "holdAnswer");
  const grown = vi.spyOn(AdmissionControl.prototype, "growAnswer");
  const queries = Array.from({ length: 200 }, () => VALID_QUERY);
  const response = await host.ask("/api/v1/hazard-risk/batch", {
    method: "POST",
    headers: { "Accept-Encoding": "gzip", "Content-Type": "application/json" },
    body: JSON.stringify(queries),
  });
  expect(response.status).toBe(200);
  const { length } = await response.text();
  expect(length).toBeGreaterThan(16_384);
  expect(held.mock.calls.map(([, sizeBytes]) => sizeBytes)).toStrictEqual([length]);
  const compressedBytes = grown.mock.calls.reduce((sum, [, addedBytes]) => sum + addedBytes, 0);
  expect(compressedBytes).toBe(Number(response.headers.get("Content-Length")));
});
