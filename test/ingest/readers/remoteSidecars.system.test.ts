import { describe, expect, test } from "vitest";
import { makeGeoTiff } from "../makeGeoTiff.ts";
import {
  pamDocument,
  PLAIN,
  PLAIN_BYTES,
  read,
  rejectionMessage,
  type RespondTo,
  sendRange,
  startServer,
  useSidecarFolder,
  VALUES_WITH_NODATA_3,
} from "./sidecarFixture.ts";

useSidecarFolder();

describe("a remote map", () => {
  test("is read by range requests", async () => {
    expect(await read(`${await startServer({ "map.tif": PLAIN_BYTES })}/map.tif`)).toEqual(PLAIN.values);
  });

  test("uses the nodata value of its sidecar", async () => {
    const address = await startServer({
      "map.tif": PLAIN_BYTES,
      "map.tif.aux.xml": pamDocument("<NoDataValue>3</NoDataValue>"),
    });
    expect(await read(`${address}/map.tif`)).toEqual(VALUES_WITH_NODATA_3);
  });

  test("is read with its mask, scale and nodata value", async () => {
    const mask = {
      ...PLAIN,
      values: Array.from(PLAIN.values, (value) => (value === 5 ? 0 : 255)),
      type: "uint8",
    } as const;
    const metadata = '<GDALMetadata><Item name="INTERNAL_MASK_FLAGS_1">2</Item></GDALMetadata>';
    const address = await startServer({
      "map.tif": PLAIN_BYTES,
      "map.tif.msk": makeGeoTiff({ ...mask, metadata }),
      "map.tif.aux.xml": pamDocument("<Scale>2</Scale>"),
    });
    expect(await read(`${address}/map.tif`)).toEqual(
      Array.from(PLAIN.values, (value) => (value === 5 ? NaN : 2 * value)),
    );
  });

  test("is rejected if its mask cannot be read", async () => {
    const address = await startServer({ "map.tif": PLAIN_BYTES, "map.tif.msk": "mask" });
    expect(await rejectionMessage(`${address}/map.tif`)).toMatch(/its mask map\.tif\.msk cannot be applied/);
  });

  test("is rejected if its world file contradicts it", async () => {
    const address = await startServer({ "map.tif": PLAIN_BYTES, "map.tfw": "2\n0\n0\n-1\n12\n49.5\n" });
    expect(await rejectionMessage(`${address}/map.tif`)).toMatch(/its sidecar map\.tfw states/);
  });

  test.each(["map.tif.msk", "map.tif.aux.xml", "map.tfw"])(
    "is rejected if the server does not reveal whether %s exists",
    async (name) => {
      for (const status of [403, 500, 503]) {
        const address = await startServer(
          { "map.tif": PLAIN_BYTES },
          { [name]: (_, response) => response.writeHead(status).end() },
        );
        expect(await rejectionMessage(`${address}/map.tif`)).toMatch(
          new RegExp(
            `returned status ${status} for the sidecar .*${name.replaceAll(".", "\\.")}; only 404 or 410 would mean`,
          ),
        );
      }
    },
  );

  test("is rejected if the server drops the connection on a sidecar request", async () => {
    const address = await startServer(
      { "map.tif": PLAIN_BYTES },
      { "map.tif.msk": (request) => request.socket.destroy() },
    );
    expect(await rejectionMessage(`${address}/map.tif`)).toMatch(/map\.tif\.msk cannot be reached/);
  });

  test.each<[string, RespondTo, RegExp]>([
    ["sends whole files only", (_, response) => response.end(PLAIN_BYTES), /does not support range requests/],
    ["does not have the map", (_, response) => response.writeHead(404).end(), /status 404/],
    [
      "sends other bytes than requested",
      (_, response) => response.writeHead(206, { "content-range": "bytes 5-5/100" }).end("x"),
      /bytes 0 to 0 were requested, but the server sent "bytes 5-5\/100"/,
    ],
    [
      "sends more bytes than requested",
      (_, response) => response.writeHead(206, { "content-range": "bytes 0-0/100" }).end(Buffer.alloc(100_000)),
      /sends more than the 1 bytes/,
    ],
    [
      "does not state the file size",
      (_, response) => response.writeHead(206, { "content-range": "bytes 0-0/*" }).end("I"),
      /bytes 0-0/,
    ],
  ])("is rejected if the server %s", async (_, respond, message) => {
    expect(await rejectionMessage(`${await startServer({}, { "map.tif": respond })}/map.tif`)).toMatch(message);
  });

  test("is rejected if it changes while being read", async () => {
    let requestCount = 0;
    const respond: RespondTo = (request, response) => sendRange(request, response, PLAIN_BYTES, `"${requestCount++}"`);
    expect(await rejectionMessage(`${await startServer({}, { "map.tif": respond })}/map.tif`)).toMatch(
      /changed while it was being read/,
    );
  });

  test("is rejected if its server is unreachable", async () => {
    expect(await rejectionMessage("http://127.0.0.1:9/map.tif")).toMatch(/cannot be reached/);
  });
});
