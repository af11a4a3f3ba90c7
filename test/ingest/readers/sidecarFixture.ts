/** Maps with sidecar files, on disk and on an HTTP server. */
import { randomUUID } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { isFault } from "../../../src/errors.ts";
import { openGeoTiff } from "../../../src/ingest/readers/geotiff/geotiff.ts";
import type { RasterOptions } from "../../../src/ingest/raster.ts";
import { type GeoTiffSpec, makeGeoTiff } from "../makeGeoTiff.ts";

export const folder = join(tmpdir(), `isotherm-sidecars-${randomUUID()}`);

/** Gives the calling file a folder, which is deleted after its tests, and stops the servers after each test. */
export function useSidecarFolder(): void {
  beforeAll(() => mkdir(folder));
  afterEach(stopServers);
  afterAll(() => rm(folder, { recursive: true, force: true }));
}

/** Cells of 2 x 1 degrees from latitude 50, longitude 10. */
export const PLAIN: GeoTiffSpec = {
  rowCount: 3,
  columnCount: 4,
  values: Array.from({ length: 12 }, (_, i) => i),
  tiePoint: [10, 50],
  pixelScale: [2, 1],
};
export const PLAIN_BYTES = makeGeoTiff(PLAIN);
export const WHOLE_WINDOW = { band: 1, firstRow: 0, rowCount: 3, firstColumn: 0, columnCount: 4 };

/** Returns a PAM document with this content for the first band. */
export const pamDocument = (inside: string): string =>
  `<PAMDataset><PAMRasterBand band="1">${inside}</PAMRasterBand></PAMDataset>`;
export const VALUES_WITH_NODATA_3 = Array.from({ length: 12 }, (_, i) => (i === 3 ? NaN : i));

/** Reads the first band of a map. */
export async function read(file: string, options: RasterOptions = {}): Promise<readonly number[]> {
  const raster = await openGeoTiff(file, options);
  try {
    return Array.from(await raster.readWindow(WHOLE_WINDOW));
  } finally {
    await raster.close();
  }
}

/** Returns the message with which a file is rejected; it must name the file. */
export async function rejectionMessage(file: string, options: RasterOptions = {}): Promise<string> {
  try {
    await read(file, options);
  } catch (error) {
    if (!isFault(error, "source_invalid")) throw error;
    expect(error.message).toContain(file);
    return error.message;
  }
  throw new Error("The file was not rejected.");
}

let fileCount = 0;
/** Writes a map with sidecar files and returns its path. */
export async function withSidecars(
  files: Readonly<Record<string, string>>,
  spec: GeoTiffSpec = PLAIN,
): Promise<string> {
  const stem = join(folder, `map${fileCount++}`);
  await writeFile(`${stem}.tif`, makeGeoTiff(spec));
  for (const [name, text] of Object.entries(files)) await writeFile(`${stem}${name}`, text);
  return `${stem}.tif`;
}

export type RespondTo = (request: IncomingMessage, response: ServerResponse) => void;
const servers: Server[] = [];

async function stopServers(): Promise<void> {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }
}

/** Starts a file server that supports range requests and returns its address; `responders` take precedence over files. */
export async function startServer(
  files: Readonly<Record<string, Buffer | string>>,
  responders: Readonly<Record<string, RespondTo>> = {},
): Promise<string> {
  const server = createServer((request, response) => {
    const name = (request.url ?? "").slice(1);
    const respond = responders[name];
    const text = files[name];
    if (respond !== undefined) respond(request, response);
    else if (text === undefined) response.writeHead(404).end();
    else sendRange(request, response, Buffer.from(text));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Responds to a request for a file, or for a range of it. */
export function sendRange(request: IncomingMessage, response: ServerResponse, bytes: Buffer, etag = '"one"'): void {
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
  if (from === undefined || to === undefined) {
    response.writeHead(200, { etag }).end(bytes);
    return;
  }
  const part = bytes.subarray(Number(from), Number(to) + 1);
  const range = `bytes ${from}-${Number(from) + part.length - 1}/${bytes.length}`;
  response.writeHead(206, { etag, "content-range": range, "content-length": part.length }).end(part);
}
