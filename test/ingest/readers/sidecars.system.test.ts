/** Sidecar files of local maps. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openGeoTiff, openStoredGeoTiff } from "../../../src/ingest/readers/geotiff/geotiff.ts";
import type { GeoTiffSpec } from "../makeGeoTiff.ts";
import {
  folder,
  pamDocument,
  PLAIN,
  PLAIN_BYTES,
  read,
  rejectionMessage,
  useSidecarFolder,
  VALUES_WITH_NODATA_3,
  WHOLE_WINDOW,
  withSidecars,
} from "./sidecarFixture.ts";

useSidecarFolder();

describe("a sidecar of a local map", () => {
  test("with nodata is applied and recorded", async () => {
    const file = await withSidecars({ ".tif.aux.xml": pamDocument("<NoDataValue>3</NoDataValue>") });
    expect(await read(file)).toEqual(VALUES_WITH_NODATA_3);
    const raster = await openGeoTiff(file);
    expect(raster.notes["sidecar_nodata"]).toEqual({ 1: 3 });
    expect(raster.bands.map(({ nodata }) => nodata)).toEqual([[3]]);
    await raster.close();
  });

  test.each([
    [{ ".tif.msk": "" }, /its mask map\d+\.tif\.msk cannot be applied .*not a GeoTIFF/],
    [{ ".TIF.MSK": "" }, /its mask map\d+\.TIF\.MSK cannot be applied/],
    [{ ".tif.aux.xml": pamDocument("<Scale>0</Scale>") }, /aux\.xml states for band 1 a scale of "0"/],
    [{ ".tif.aux.xml": pamDocument("<Offset>none</Offset>") }, /aux\.xml states for band 1 an offset of "none"/],
    [{ ".tif.aux.xml": pamDocument("<Scale>2</Scale><Scale>3</Scale>") }, /states scale for band 1 twice/],
    [{ ".tif.aux.xml": pamDocument("<ColorTable><Entry c1='1'/></ColorTable>") }, /class codes/],
    [{ ".tif.aux.xml": pamDocument("<MaskFlags>2</MaskFlags>") }, /maskflags for band 1, which is not supported/],
    [{ ".tif.aux.xml": "<PAMDataset><GCPList/></PAMDataset>" }, /gcplist, which is not supported/],
    [
      {
        ".tif.aux.xml": pamDocument(
          '<Metadata domain="IMAGE_STRUCTURE"><MDI key="PIXELTYPE">SIGNEDBYTE</MDI></Metadata>',
        ),
      },
      /PIXELTYPE/,
    ],
    [{ ".tif.aux.xml": '<!DOCTYPE a [<!ENTITY b "c">]><PAMDataset>&b;</PAMDataset>' }, /document type definition/],
    [{ ".tif.aux.xml": `<PAMDataset>${" ".repeat(1 << 20)}</PAMDataset>` }, /the limit is 1048576/],
    [{ ".tif.aux.xml": '<PAMDataset GeoTransform="0,2,0,50,0,-1"/>' }, /states its first cell at \(0, 50\)/],
    [
      { ".tif.aux.xml": '<PAMDataset srs="EPSG:3857"/>' },
      /is in the coordinate system EPSG:4326, but map\d+\.tif\.aux\.xml states EPSG:3857/,
    ],
    [{ ".tif.aux.xml": '<PAMDataset><PAMRasterBand band="1" maskflags="2"/></PAMDataset>' }, /maskflags for band 1/],
    [{ ".tif.aux.xml": "<PAMDataset><PAMRasterBand><Scale>1</Scale></PAMRasterBand></PAMDataset>" }, /attribute band/],
    [{ ".tif.aux.xml": "<PAMDataset><PAMRasterBand><band>1</band></PAMRasterBand></PAMDataset>" }, /attribute band/],
    [{ ".tif.aux.xml": '<PAMDataset><PAMRasterBand band="1x"/></PAMDataset>' }, /attribute band/],
    [{ ".tif.aux.xml": pamDocument("<NoDataValue>3<le_hex_equiv>0</le_hex_equiv></NoDataValue>") }, /le_hex_equiv/],
    [
      { ".tif.aux.xml": pamDocument('<NoDataValue other="4">3</NoDataValue>') },
      /nodatavalue\/other, which is not supported/,
    ],
    [
      { ".tif.aux.xml": pamDocument("<NoDataValue>3</NoDataValue><NODATAVALUE>4</NODATAVALUE>") },
      /nodatavalue for band 1 twice/,
    ],
    [{ ".tif.aux.xml": pamDocument('<Metadata><mdi other="NODATA_VALUES">3</mdi></Metadata>') }, /MDI/],
    [
      { ".tif.aux.xml": pamDocument('<metadata><mdi KEY="NODATA_VALUES">3</mdi></metadata>') },
      /NODATA_VALUES for one band/,
    ],
    [
      { ".tif.aux.xml": "<PAMDataset><Metadata><MDI key='NODATA_VALUES'>3 4</MDI></Metadata></PAMDataset>" },
      /2 NODATA_VALUES for 1 bands/,
    ],
    [{ ".tif.aux.xml": '<PAMDataset><PAMRasterBand band="1" BAND="2"/></PAMDataset>' }, /differ only in case/],
    [{ ".aux": "EHFA_HEADER_TAG and more" }, /its sidecar map\d+\.aux may change/],
    [{ ".tfw": "2\n0\n0\n-1\n12\n49.5\n" }, /\.tfw states its first cell at \(11, 50\)/],
    [{ ".wld": "2\n0.1\n0\n-1\n11\n49.5\n" }, /\.wld must have the six numbers of an unrotated map/],
  ])("is rejected in the form %j, with a message that names the cause", async (files, message) => {
    expect(await rejectionMessage(await withSidecars(files as Record<string, string>))).toMatch(message);
  });

  test.each([
    '<PAMDataset><PAMRasterBand band="1" NoDataValue="3" UnitType="cm"/></PAMDataset>',
    '<PAMDATASET><pamRasterBand Band="1"><nodatavalue>3</nodatavalue><UNITTYPE>cm</UNITTYPE></pamRasterBand></PAMDATASET>',
  ])("is applied as by GDAL regardless of the case of names, as elements or attributes: %s", async (text) => {
    const raster = await openGeoTiff(await withSidecars({ ".tif.aux.xml": text }));
    expect(raster.bands.map(({ nodata }) => nodata)).toEqual([[3]]);
    expect(raster.bands.map(({ unit }) => unit)).toEqual(["cm"]);
    await raster.close();
  });

  test.each([
    ['<GDALMetadata><item NAME="S" SAMPLE="0" ROLE="scale">ten</item></GDALMetadata>', /a scale of "ten"/],
    [
      '<GDALMetadata><Item sample="0" role="scale">2</Item><Item sample="0" role="scale">3</Item></GDALMetadata>',
      /scale twice, as 2 and 3/,
    ],
    ['<GDALMetadata><Item NAME="NODATA_VALUES">a</Item></GDALMetadata>', /NODATA_VALUES "a"; a finite number/],
    ['<GDALMetadata><Item name="S" sample="0"><role>scale</role>10</Item></GDALMetadata>', /contains role/],
    ['<GDALMetadata><Item name="S" sample="0" kind="scale">10</Item></GDALMetadata>', /contains kind/],
    ["<GDALMetadata><Items/></GDALMetadata>", /contains items/],
    ["<Other><GDALMetadata/></Other>", /contains gdalmetadata/],
    [
      '<GDALMetadata><Item name="U" role="unittype">m</Item></GDALMetadata>',
      /role unittype but without a valid band \(sample is missing\)/,
    ],
    [
      '<GDALMetadata><Item name="U" sample="x" role="unittype">m</Item></GDALMetadata>',
      /without a valid band \(sample is "x"\)/,
    ],
  ])("or GDAL metadata in the file is rejected in the form %s", async (metadata, message) => {
    expect(await rejectionMessage(await withSidecars({}, { ...PLAIN, metadata }))).toMatch(message);
  });

  test("or GDAL metadata in the file states units with case-insensitive names", async () => {
    const metadata = '<GDALMetadata><item NAME="U" SAMPLE="0" ROLE="UnitType">cm</item></GDALMetadata>';
    const raster = await openGeoTiff(await withSidecars({}, { ...PLAIN, metadata }));
    expect(raster.bands.map(({ unit }) => unit)).toEqual(["cm"]);
    await raster.close();
  });

  test.each([
    ["cm", "m", /band 1 has the unit "cm", but its \.aux\.xml states "m"/],
    ["m", "furlong", /band 1 has the unit "m", but its \.aux\.xml states "furlong"/],
  ])("is rejected if the file states the unit %s and the sidecar %s", async (fileUnit, sidecarUnit, message) => {
    const metadata = `<GDALMetadata><Item name="U" sample="0" role="unittype">${fileUnit}</Item></GDALMetadata>`;
    const sidecar = { ".tif.aux.xml": pamDocument(`<UnitType>${sidecarUnit}</UnitType>`) };
    expect(await rejectionMessage(await withSidecars(sidecar, { ...PLAIN, metadata }))).toMatch(message);
  });

  test.each([
    { ".tif.aux.xml": pamDocument("<Scale>10</Scale><Offset>0.5</Offset>") },
    {
      ".tif.aux.xml":
        '<pamdataset><pamrasterband BAND="1"><scale>10</scale><OFFSET>0.5</OFFSET></pamrasterband></pamdataset>',
    },
    { ".tif.aux.xml": '<PAMDataset><PAMRasterBand band="1" Scale="10" Offset="0.5"/></PAMDataset>' },
  ])("with scale and offset is applied in the form %j", async (files) => {
    const file = await withSidecars(files, { ...PLAIN, nodata: "3" });
    expect(await read(file)).toEqual(VALUES_WITH_NODATA_3.map((value) => value * 10 + 0.5));
    const raster = await openGeoTiff(file, { nodata: [40.5] });
    expect(raster.bands[0]).toMatchObject({ scale: 10, offset: 0.5, nodata: [3] });
    // --nodata refers to values, after scale and offset.
    expect(Array.from(await raster.readWindow(WHOLE_WINDOW))[4]).toBeNaN();
    await raster.close();
  });

  test.each(["m", "Metre"])("may repeat the unit of the file as %s", async (sidecarUnit) => {
    const metadata = '<GDALMetadata><Item name="U" sample="0" role="unittype">m</Item></GDALMetadata>';
    const file = await withSidecars(
      { ".tif.aux.xml": pamDocument(`<UnitType>${sidecarUnit}</UnitType>`) },
      { ...PLAIN, metadata },
    );
    const raster = await openGeoTiff(file);
    expect(raster.bands.map(({ unit }) => unit)).toEqual(["m"]);
    await raster.close();
  });

  test("with the exact name takes precedence over one whose name differs in case", async () => {
    const nodata = (value: number): string => pamDocument(`<NoDataValue>${value}</NoDataValue>`);
    // Directory listings have no fixed order, so both spellings are tried.
    for (const [otherXml, otherWorldFile] of [
      [".TIF.AUX.XML", ".TFW"],
      [".tif.Aux.xml", ".Tfw"],
      [".tif.auX.xml", ".tfW"],
    ] as const) {
      const file = await withSidecars({
        [otherXml]: nodata(4),
        ".tif.aux.xml": nodata(3),
        [otherWorldFile]: "2\n0\n0\n-1\n12\n49.5\n",
        ".tfw": "2\n0\n0\n-1\n11\n49.5\n",
      });
      expect(await read(file)).toEqual(VALUES_WITH_NODATA_3);
    }
  });

  test("of another map whose name differs in case is not used", async () => {
    const file = join(folder, "case.tif");
    await writeFile(file, PLAIN_BYTES);
    await writeFile(join(folder, "CASE.tif"), PLAIN_BYTES);
    await writeFile(join(folder, "CASE.tif.aux.xml"), pamDocument("<NoDataValue>4</NoDataValue>"));
    await writeFile(join(folder, "CASE.tif.msk"), "");
    expect(await read(file)).toEqual(PLAIN.values);
  });

  test("is found among several .aux files", async () => {
    const file = await withSidecars({ ".AUX": "text", ".aux": "text", ".tif.aux": "EHFA_HEADER_TAG" });
    expect(await rejectionMessage(file)).toMatch(/its sidecar map\d+\.tif\.aux may change/);
  });

  test.each([1, 2])("with nodata for band %i leaves absent blocks of the other band at 0", async (nodataBand) => {
    const spec = { ...PLAIN, bandCount: 2, values: new Float32Array(24).fill(7), rowsPerStrip: 1, sparseStrips: [1] };
    const text = `<PAMDataset><PAMRasterBand band="${nodataBand}"><NoDataValue>-9999</NoDataValue></PAMRasterBand></PAMDataset>`;
    const raster = await openGeoTiff(await withSidecars({ ".tif.aux.xml": text }, spec));
    for (const band of [1, 2]) {
      const values = await raster.readWindow({ ...WHOLE_WINDOW, band });
      expect([values[0], values[4]]).toEqual([7, band === nodataBand ? NaN : 0]);
    }
    await raster.close();
  });

  test.each([
    [{ ".tif.ovr": "overviews" }],
    [{ ".tif.msk.txt": "notes" }],
    [{ ".aux": "\\relax of a text" }],
    [{ ".tfw": "2\n0\n0\n-1\n11\n49.5\n" }],
    [{ ".tif.aux.xml": pamDocument("<Metadata><MDI key='STATISTICS_MEAN'>3</MDI></Metadata>") }],
    [
      {
        ".tif.aux.xml":
          "<PAMDataset><SRS>GEOGCS[&quot;WGS 84&quot;,DATUM[&quot;WGS_1984&quot;,SPHEROID[&quot;WGS 84&quot;,6378137,298.257223563]],AUTHORITY[&quot;EPSG&quot;,&quot;4326&quot;]]</SRS></PAMDataset>",
      },
    ],
  ])("is ignored in the form %j", async (files) => {
    expect(await read(await withSidecars(files as Record<string, string>))).toEqual(PLAIN.values);
  });

  const UTM_33 =
    'PROJCS["WGS 84 / UTM zone 33N",GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]]],PROJECTION["Transverse_Mercator"],PARAMETER["latitude_of_origin",0],PARAMETER["central_meridian",15],PARAMETER["scale_factor",0.9996],PARAMETER["false_easting",500000],PARAMETER["false_northing",0],UNIT["metre",1],AXIS["Easting",EAST],AXIS["Northing",NORTH]]';
  const srs = (text: string, attributes = ""): Readonly<Record<string, string>> => ({
    ".tif.aux.xml": `<PAMDataset><SRS${attributes}>${text.replaceAll('"', "&quot;")}</SRS></PAMDataset>`,
  });
  const WITHOUT_CRS: GeoTiffSpec = { ...PLAIN, geoKeys: null };

  test("states the coordinate system of a file without one, which is recorded", async () => {
    const file = await withSidecars(srs(UTM_33, ' dataAxisToSRSAxisMapping="1,2"'), WITHOUT_CRS);
    const raster = await openStoredGeoTiff(file);
    expect(raster).toMatchObject({
      plane: { westX: 10, northY: 50, cellWidth: 2, cellHeight: 1 },
      projectedCrs: { method: "tmerc", parameters: { lon_0: 15, x_0: 500_000 } },
      notes: { crs: expect.stringMatching(/^"WGS 84 \/ UTM zone 33N", stated in map\d+\.tif\.aux\.xml$/) as string },
      sidecarFiles: [`${file}.aux.xml`],
    });
    await raster.close();
  });

  test("states WGS84 and the transform of a file without them", async () => {
    const text = "<PAMDataset><SRS>EPSG:4326</SRS><GeoTransform>20,0.5,0,40,0,-0.25</GeoTransform></PAMDataset>";
    const spec: GeoTiffSpec = { rowCount: 3, columnCount: 4, values: PLAIN.values, geoKeys: null };
    const raster = await openGeoTiff(await withSidecars({ ".tif.aux.xml": text }, spec));
    expect(raster.grid).toMatchObject({ northDeg: 40, westDeg: 20, cellSizeLatDeg: 0.25, cellSizeLonDeg: 0.5 });
    await raster.close();
  });

  test.each([
    [srs(UTM_33, ' dataAxisToSRSAxisMapping="2,1"'), {}, /states the order of axes "2,1"/],
    [
      srs("LOCAL_CS[&quot;site&quot;]"),
      {},
      /has a sidecar map\d+\.tif\.aux\.xml that has the coordinate system "site"/,
    ],
    [
      srs('COMPD_CS["both",GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]]]]'),
      {},
      /heights/,
    ],
    [srs("EPSG:32633"), { crs: "EPSG:32633" }, /states its coordinate system in map\d+\.tif\.aux\.xml; crs is only/],
  ] as const)("with a coordinate system is rejected in the form %j with %j", async (files, options, message) => {
    expect(await rejectionMessage(await withSidecars(files, WITHOUT_CRS), options)).toMatch(message);
  });
});
