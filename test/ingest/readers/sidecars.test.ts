/** Sidecar files of local and remote maps, and reading of remote maps. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { isFault } from "../../../src/errors.ts";
import { openGeoTiff } from "../../../src/ingest/readers/geotiff/geotiff.ts";
import { ingestLayers } from "../../../src/ingest/ingest.ts";
import type { RasterOptions } from "../../../src/ingest/raster.ts";
import { type GeoTiffSpec, makeGeoTiff } from "../makeGeoTiff.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-beside-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Cells of 2 x 1 degrees from latitude 50, longitude 10. */
const PLAIN: GeoTiffSpec = {
  rowCount: 3,
  columnCount: 4,
  values: Array.from({ length: 12 }, (_, i) => i),
  tie: [10, 50],
  scale: [2, 1],
};
const BYTES = makeGeoTiff(PLAIN);
const WHOLE = { band: 1, firstRow: 0, rowCount: 3, firstColumn: 0, columnCount: 4 };

async function read(file: string, options: RasterOptions = {}): Promise<readonly number[]> {
  const raster = await openGeoTiff(file, options);
  try {
    return Array.from(await raster.readWindow(WHOLE));
  } finally {
    await raster.close();
  }
}

async function refusal(file: string, options: RasterOptions = {}): Promise<string> {
  try {
    await read(file, options);
  } catch (error) {
    if (!isFault(error, "source_invalid")) throw error;
    expect(error.message).toContain(file);
    return error.message;
  }
  throw new Error("The file was not refused.");
}

const band = (inside: string): string => `<PAMDataset><PAMRasterBand band="1">${inside}</PAMRasterBand></PAMDataset>`;
const NODATA_3 = Array.from({ length: 12 }, (_, i) => (i === 3 ? NaN : i));

let count = 0;
/** Writes a map with sidecar files and returns its path. */
async function withSidecars(files: Readonly<Record<string, string>>, spec: GeoTiffSpec = PLAIN): Promise<string> {
  const stem = join(folder, `map${count++}`);
  await writeFile(`${stem}.tif`, makeGeoTiff(spec));
  for (const [name, text] of Object.entries(files)) await writeFile(`${stem}${name}`, text);
  return `${stem}.tif`;
}

describe("a sidecar of a local map", () => {
  test("with nodata is applied and recorded", async () => {
    const file = await withSidecars({ ".tif.aux.xml": band("<NoDataValue>3</NoDataValue>") });
    expect(await read(file)).toEqual(NODATA_3);
    const raster = await openGeoTiff(file);
    expect(raster.notes["sidecar_nodata"]).toEqual({ 1: 3 });
    expect(raster.declaredNodata).toEqual([3]);
    await raster.close();
  });

  test.each([
    [{ ".tif.msk": "" }, /its mask map\d+\.tif\.msk marks missing cells/],
    [{ ".TIF.MSK": "" }, /its mask map\d+\.TIF\.MSK marks missing cells/],
    [{ ".tif.aux.xml": band("<Scale>0.1</Scale>") }, /aux\.xml states for band 1 a scale of 0\.1/],
    [{ ".tif.aux.xml": band("<ColorTable><Entry c1='1'/></ColorTable>") }, /class codes/],
    [{ ".tif.aux.xml": band("<MaskFlags>2</MaskFlags>") }, /maskflags for band 1, which is not supported/],
    [{ ".tif.aux.xml": "<PAMDataset><GCPList/></PAMDataset>" }, /gcplist, which is not supported/],
    [
      {
        ".tif.aux.xml": band('<Metadata domain="IMAGE_STRUCTURE"><MDI key="PIXELTYPE">SIGNEDBYTE</MDI></Metadata>'),
      },
      /PIXELTYPE/,
    ],
    [{ ".tif.aux.xml": '<!DOCTYPE a [<!ENTITY b "c">]><PAMDataset>&b;</PAMDataset>' }, /document type definition/],
    [{ ".tif.aux.xml": `<PAMDataset>${" ".repeat(1 << 20)}</PAMDataset>` }, /the limit is 1048576/],
    [{ ".tif.aux.xml": band("<scale>10</scale>") }, /states for band 1 a scale of 10/],
    [{ ".tif.aux.xml": '<pamdataset><pamrasterband BAND="1"><Scale>10</Scale></pamrasterband></pamdataset>' }, /scale/],
    [{ ".tif.aux.xml": '<PAMDataset><PAMRasterBand band="1" Scale="10"/></PAMDataset>' }, /a scale of 10/],
    [{ ".tif.aux.xml": '<PAMDataset GeoTransform="0,2,0,50,0,-1"/>' }, /states its first cell at \(0, 50\)/],
    [{ ".tif.aux.xml": '<PAMDataset srs="EPSG:3857"/>' }, /coordinate system other than WGS84/],
    [{ ".tif.aux.xml": '<PAMDataset><PAMRasterBand band="1" maskflags="2"/></PAMDataset>' }, /maskflags for band 1/],
    [{ ".tif.aux.xml": "<PAMDataset><PAMRasterBand><Scale>1</Scale></PAMRasterBand></PAMDataset>" }, /attribute band/],
    [{ ".tif.aux.xml": "<PAMDataset><PAMRasterBand><band>1</band></PAMRasterBand></PAMDataset>" }, /attribute band/],
    [{ ".tif.aux.xml": '<PAMDataset><PAMRasterBand band="1x"/></PAMDataset>' }, /attribute band/],
    [{ ".tif.aux.xml": band("<NoDataValue>3<le_hex_equiv>0</le_hex_equiv></NoDataValue>") }, /le_hex_equiv/],
    [{ ".tif.aux.xml": band('<NoDataValue other="4">3</NoDataValue>') }, /nodatavalue\/other, which is not supported/],
    [
      { ".tif.aux.xml": band("<NoDataValue>3</NoDataValue><NODATAVALUE>4</NODATAVALUE>") },
      /nodatavalue for band 1 twice/,
    ],
    [{ ".tif.aux.xml": band('<Metadata><mdi other="NODATA_VALUES">3</mdi></Metadata>') }, /MDI/],
    [{ ".tif.aux.xml": band('<metadata><mdi KEY="NODATA_VALUES">3</mdi></metadata>') }, /NODATA_VALUES/],
    [{ ".tif.aux.xml": '<PAMDataset><PAMRasterBand band="1" BAND="2"/></PAMDataset>' }, /differ only in case/],
    [{ ".aux": "EHFA_HEADER_TAG and more" }, /its sidecar map\d+\.aux may change/],
    [{ ".tfw": "2\n0\n0\n-1\n12\n49.5\n" }, /\.tfw states its first cell at \(11, 50\)/],
    [{ ".wld": "2\n0.1\n0\n-1\n11\n49.5\n" }, /\.wld is not a world file of an unrotated map/],
  ])("is rejected by name: %j", async (files, message) => {
    expect(await refusal(await withSidecars(files as Record<string, string>))).toMatch(message);
  });

  test.each([
    '<PAMDataset><PAMRasterBand band="1" NoDataValue="3" UnitType="cm"/></PAMDataset>',
    '<PAMDATASET><pamRasterBand Band="1"><nodatavalue>3</nodatavalue><UNITTYPE>cm</UNITTYPE></pamRasterBand></PAMDATASET>',
  ])("is applied as GDAL does, whatever the case of names and whether they are elements: %s", async (text) => {
    const raster = await openGeoTiff(await withSidecars({ ".tif.aux.xml": text }));
    expect(raster.declaredNodata).toEqual([3]);
    expect(raster.declaredUnits).toEqual(["cm"]);
    await raster.close();
  });

  test.each([
    ['<GDALMetadata><item NAME="S" SAMPLE="0" ROLE="scale">10</item></GDALMetadata>', /a scale of 10/],
    ['<gdalmetadata><Item name="S" sample="0" role="scale">10</Item></gdalmetadata>', /a scale of 10/],
    ['<GDALMetadata><Item NAME="NODATA_VALUES">3</Item></GDALMetadata>', /NODATA_VALUES/],
    ['<GDALMetadata><Item name="S" sample="0"><role>scale</role>10</Item></GDALMetadata>', /states role/],
    ['<GDALMetadata><Item name="S" sample="0" kind="scale">10</Item></GDALMetadata>', /states kind/],
    ["<GDALMetadata><Items/></GDALMetadata>", /states items/],
    ["<Other><GDALMetadata/></Other>", /states gdalmetadata/],
    ['<GDALMetadata><Item name="U" role="unittype">m</Item></GDALMetadata>', /states unittype for no band/],
    ['<GDALMetadata><Item name="U" sample="x" role="unittype">m</Item></GDALMetadata>', /for the band "x"/],
  ])("or GDAL metadata of the file itself is rejected by name: %s", async (metadata, message) => {
    expect(await refusal(await withSidecars({}, { ...PLAIN, metadata }))).toMatch(message);
  });

  test("or GDAL metadata of the file itself states units, whatever the case of names", async () => {
    const metadata = '<GDALMetadata><item NAME="U" SAMPLE="0" ROLE="UnitType">cm</item></GDALMetadata>';
    const raster = await openGeoTiff(await withSidecars({}, { ...PLAIN, metadata }));
    expect(raster.declaredUnits).toEqual(["cm"]);
    await raster.close();
  });

  test.each([
    ["cm", "m", /band 1 is in the unit "cm", but its \.aux\.xml states "m"/],
    ["m", "furlong", /band 1 is in the unit "m", but its \.aux\.xml states "furlong"/],
  ])("is rejected if the file states the unit %s and the sidecar %s", async (own, other, message) => {
    const metadata = `<GDALMetadata><Item name="U" sample="0" role="unittype">${own}</Item></GDALMetadata>`;
    const sidecar = { ".tif.aux.xml": band(`<UnitType>${other}</UnitType>`) };
    expect(await refusal(await withSidecars(sidecar, { ...PLAIN, metadata }))).toMatch(message);
  });

  test.each(["m", "Metre"])("may repeat the unit of the file: %s", async (other) => {
    const metadata = '<GDALMetadata><Item name="U" sample="0" role="unittype">m</Item></GDALMetadata>';
    const file = await withSidecars({ ".tif.aux.xml": band(`<UnitType>${other}</UnitType>`) }, { ...PLAIN, metadata });
    const raster = await openGeoTiff(file);
    expect(raster.declaredUnits).toEqual(["m"]);
    await raster.close();
  });

  test("with the exact name is read, not one whose name differs in case", async () => {
    const nodata = (value: number): string => band(`<NoDataValue>${value}</NoDataValue>`);
    // Directory listings have no fixed order, so both spellings are tried.
    for (const [wrong, alien] of [
      [".TIF.AUX.XML", ".TFW"],
      [".tif.Aux.xml", ".Tfw"],
      [".tif.auX.xml", ".tfW"],
    ] as const) {
      const file = await withSidecars({
        [wrong]: nodata(4),
        ".tif.aux.xml": nodata(3),
        [alien]: "2\n0\n0\n-1\n12\n49.5\n",
        ".tfw": "2\n0\n0\n-1\n11\n49.5\n",
      });
      expect(await read(file)).toEqual(NODATA_3);
    }
  });

  test("of another map whose name differs in case is not used", async () => {
    const own = join(folder, "case.tif");
    await writeFile(own, BYTES);
    await writeFile(join(folder, "CASE.tif"), BYTES);
    await writeFile(join(folder, "CASE.tif.aux.xml"), band("<NoDataValue>4</NoDataValue>"));
    await writeFile(join(folder, "CASE.tif.msk"), "");
    expect(await read(own)).toEqual(PLAIN.values);
  });

  test("and .aux files are all examined, not only the first", async () => {
    const file = await withSidecars({ ".AUX": "text", ".aux": "text", ".tif.aux": "EHFA_HEADER_TAG" });
    expect(await refusal(file)).toMatch(/its sidecar map\d+\.tif\.aux may change/);
  });

  test.each([1, 2])("with nodata for one band leaves absent blocks of the other at 0: band %i", async (nodataBand) => {
    const spec = { ...PLAIN, bandCount: 2, values: new Float32Array(24).fill(7), rowsPerStrip: 1, sparseStrips: [1] };
    const text = `<PAMDataset><PAMRasterBand band="${nodataBand}"><NoDataValue>-9999</NoDataValue></PAMRasterBand></PAMDataset>`;
    const raster = await openGeoTiff(await withSidecars({ ".tif.aux.xml": text }, spec));
    for (const band of [1, 2]) {
      const values = await raster.readWindow({ ...WHOLE, band });
      expect([values[0], values[4]]).toEqual([7, band === nodataBand ? NaN : 0]);
    }
    await raster.close();
  });

  test.each([
    [{ ".tif.ovr": "overviews" }],
    [{ ".tif.msk.txt": "notes" }],
    [{ ".aux": "\\relax of a text" }],
    [{ ".tfw": "2\n0\n0\n-1\n11\n49.5\n" }],
    [{ ".tif.aux.xml": band("<Metadata><MDI key='STATISTICS_MEAN'>3</MDI></Metadata>") }],
    [
      {
        ".tif.aux.xml":
          "<PAMDataset><SRS>GEOGCS[&quot;WGS 84&quot;,AUTHORITY[&quot;EPSG&quot;,&quot;4326&quot;]]</SRS></PAMDataset>",
      },
    ],
  ])("is ignored: %j", async (files) => {
    expect(await read(await withSidecars(files as Record<string, string>))).toEqual(PLAIN.values);
  });
});

type Answer = (request: IncomingMessage, response: ServerResponse) => void;
const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }
});

/** Starts a server that supports ranges and returns 404 for unknown files; `answers` take precedence. */
async function serving(
  files: Readonly<Record<string, Buffer | string>>,
  answers: Readonly<Record<string, Answer>> = {},
): Promise<string> {
  const server = createServer((request, response) => {
    const name = (request.url ?? "").slice(1);
    const answer = answers[name];
    const text = files[name];
    if (answer !== undefined) answer(request, response);
    else if (text === undefined) response.writeHead(404).end();
    else sendRange(request, response, Buffer.from(text));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function sendRange(request: IncomingMessage, response: ServerResponse, bytes: Buffer, etag = '"one"'): void {
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
  if (from === undefined || to === undefined) {
    response.writeHead(200, { etag }).end(bytes);
    return;
  }
  const part = bytes.subarray(Number(from), Number(to) + 1);
  const range = `bytes ${from}-${Number(from) + part.length - 1}/${bytes.length}`;
  response.writeHead(206, { etag, "content-range": range, "content-length": part.length }).end(part);
}

describe("a remote map", () => {
  test("is read by range requests", async () => {
    expect(await read(`${await serving({ "map.tif": BYTES })}/map.tif`)).toEqual(PLAIN.values);
  });

  test("uses the nodata value of its sidecar", async () => {
    const address = await serving({ "map.tif": BYTES, "map.tif.aux.xml": band("<NoDataValue>3</NoDataValue>") });
    expect(await read(`${address}/map.tif`)).toEqual(NODATA_3);
  });

  test("is rejected if it has a mask sidecar", async () => {
    const address = await serving({ "map.tif": BYTES, "map.tif.msk": "mask" });
    expect(await refusal(`${address}/map.tif`)).toMatch(/its mask map\.tif\.msk marks missing cells/);
  });

  test("is rejected if its world file contradicts it", async () => {
    const address = await serving({ "map.tif": BYTES, "map.tfw": "2\n0\n0\n-1\n12\n49.5\n" });
    expect(await refusal(`${address}/map.tif`)).toMatch(/its sidecar map\.tfw states/);
  });

  test.each(["map.tif.msk", "map.tif.aux.xml", "map.tfw"])(
    "is rejected if the server does not reveal whether %s exists",
    async (name) => {
      for (const status of [403, 500, 503]) {
        const address = await serving(
          { "map.tif": BYTES },
          { [name]: (_, response) => response.writeHead(status).end() },
        );
        expect(await refusal(`${address}/map.tif`)).toMatch(
          new RegExp(
            `answered ${status} for the sidecar .*${name.replaceAll(".", "\\.")}, so whether it exists is unknown`,
          ),
        );
      }
    },
  );

  test("is rejected if the server drops the connection on a sidecar request", async () => {
    const address = await serving({ "map.tif": BYTES }, { "map.tif.msk": (request) => request.socket.destroy() });
    expect(await refusal(`${address}/map.tif`)).toMatch(/map\.tif\.msk cannot be reached/);
  });

  test.each<[string, Answer, RegExp]>([
    ["sends whole files only", (_, response) => response.end(BYTES), /does not support range requests/],
    ["has no such map", (_, response) => response.writeHead(404).end(), /status 404/],
    [
      "sends other bytes than requested",
      (_, response) => response.writeHead(206, { "content-range": "bytes 5-5/100" }).end("x"),
      /requested bytes 0 to 0, the server sent "bytes 5-5\/100"/,
    ],
    [
      "sends more bytes than requested",
      (_, response) => response.writeHead(206, { "content-range": "bytes 0-0/100" }).end(Buffer.alloc(100_000)),
      /sends more than the 1 bytes/,
    ],
    [
      "states no size",
      (_, response) => response.writeHead(206, { "content-range": "bytes 0-0/*" }).end("I"),
      /bytes 0-0/,
    ],
  ])("is rejected if the server %s", async (_, answer, message) => {
    expect(await refusal(`${await serving({}, { "map.tif": answer })}/map.tif`)).toMatch(message);
  });

  test("is rejected if it changes while being read", async () => {
    let requests = 0;
    const answer: Answer = (request, response) => sendRange(request, response, BYTES, `"${requests++}"`);
    expect(await refusal(`${await serving({}, { "map.tif": answer })}/map.tif`)).toMatch(
      /changed while it was being read/,
    );
  });

  test("is rejected if its server is unreachable", async () => {
    expect(await refusal("http://127.0.0.1:9/map.tif")).toMatch(/cannot be reached/);
  });
});

describe("an abort", () => {
  const reason = new Error("enough");

  test("before opening rejects with its reason", async () => {
    const file = await withSidecars({});
    await expect(openGeoTiff(file, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  test("stops the opening of a map whose server does not respond", async () => {
    const stopping = new AbortController();
    const address = await serving({}, { "map.tif": () => stopping.abort(reason) });
    await expect(openGeoTiff(`${address}/map.tif`, { signal: stopping.signal })).rejects.toBe(reason);
  });

  test("stops reading an endless chain of directories", async () => {
    // Each directory points to the next in a file of 1 TB.
    const stopping = new AbortController();
    let requests = 0;
    const answer: Answer = (request, response) => {
      const [, from = "0", to = "0"] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
      const [first, last] = [Number(from), Number(to)];
      if (++requests === 20) stopping.abort(reason);
      const bytes = Buffer.alloc(last - first + 1);
      const PAGE = 65_536;
      for (let at = Math.ceil(first / PAGE) * PAGE; at <= last; at += PAGE) {
        const directory = Buffer.alloc(18);
        if (at === 0) directory.write("II*\0\0\0\x01\0", "latin1");
        else {
          directory.writeUInt16LE(1, 0);
          directory.writeUInt16LE(254, 2);
          directory.writeUInt16LE(4, 4);
          directory.writeUInt32LE(1, 6);
          directory.writeUInt32LE(at + PAGE, 14);
        }
        directory.copy(bytes, at - first);
      }
      response.writeHead(206, { "content-range": `bytes ${first}-${last}/${2 ** 40}` }).end(bytes);
    };
    const address = await serving({}, { "map.tif": answer });
    await expect(openGeoTiff(`${address}/map.tif`, { signal: stopping.signal })).rejects.toBe(reason);
    expect(requests).toBeLessThan(25);
  });

  test("stops reading a window between blocks", async () => {
    const stopping = new AbortController();
    const rowCount = 4000;
    const spec = {
      ...PLAIN,
      rowCount,
      values: new Float32Array(4 * rowCount),
      rowsPerStrip: 1,
      scale: [1e-3, 1e-3],
    } as const;
    const raster = await openGeoTiff(await withSidecars({}, spec), { signal: stopping.signal });
    try {
      const reading = raster.readWindow({ ...WHOLE, rowCount });
      setImmediate(() => stopping.abort(reason));
      await expect(reading).rejects.toBe(reason);
      await expect(raster.readWindow(WHOLE)).rejects.toBe(reason);
    } finally {
      await raster.close();
    }
  });

  test("stops an ingest that waits for a server", async () => {
    const stopping = new AbortController();
    const answerHeaderOnly: Answer = (request, response) => {
      // Responds to requests for the header and the directory, but not for values.
      if ((request.headers.range ?? "").startsWith("bytes=0-")) sendRange(request, response, large);
      else stopping.abort(reason);
    };
    const large = makeGeoTiff({
      rowCount: 64,
      columnCount: 600,
      values: new Float32Array(64 * 600),
      tie: [10, 50],
      scale: [0.01, 0.01],
    });
    const address = await serving({}, { "map.tif": answerHeaderOnly });
    const manifest = join(folder, "slow.json");
    await writeFile(
      manifest,
      JSON.stringify({
        hazard: "riverine_floods",
        source: { name: "Test", licence: "none" },
        layers: [{ scenario: "rcp4p5", year: 2030, metric: "depth_meters", file: `${address}/map.tif` }],
      }),
    );
    const run = ingestLayers({ manifest, out: join(folder, "atlas"), signal: stopping.signal });
    await expect(run).rejects.toBe(reason);
  });
});
