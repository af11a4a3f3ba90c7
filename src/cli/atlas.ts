import { Command } from "commander";
import { diskBlobs } from "../atlas/diskBlobs.ts";
import { openPackedAtlas, type PackedAtlas } from "../atlas/packedAtlas.ts";
import { type VerifyReport, verifyAtlas } from "../atlas/verify.ts";
import type { Blobs } from "../atlas/blobs.ts";
import { Fault } from "../errors.ts";
import { Kernel } from "../kernel/instance.ts";
import type { BoundingBox } from "../ingest/ingest.ts";
import { exportLayer, type ExportRequest } from "./atlasExport.ts";
import { formatInfo } from "./atlasInfo.ts";
import { publishAtlas, type PublishReport } from "./atlasPublish.ts";
import { stacItems } from "./atlasStac.ts";
import { readBox } from "./ingest.ts";
import { readNumber } from "./ingestRecipes.ts";
import { indentedJson } from "./terminal.ts";
import { progressBar } from "./progress.ts";

/** `isotherm atlas`: shows the content of an atlas, verifies and publishes its files, and writes it in other formats. */
export function atlasCommand(): Command {
  const command = new Command("atlas");
  command
    .command("info")
    .description("show the hazards, grids, layers, rules, sources and files of an atlas")
    .argument("<folder>", "folder of the atlas")
    .option("--files", "list the source files with their SHA-256")
    .option("--json", "print the complete catalog as JSON")
    .addHelpText("after", "\nExample:\n  isotherm atlas info data/atlas")
    .action(async (folder: string, { json = false, files = false }: { json?: boolean; files?: boolean }) => {
      await withAtlas(folder, async ({ catalog }) => {
        process.stdout.write(json ? indentedJson(catalog) : formatInfo(catalog, { hasFiles: files }));
      });
    });
  command
    .command("export")
    .description("write a layer, or a part of it, as a GeoTIFF; cells without data are NaN")
    .argument("<folder>", "folder of the atlas")
    .requiredOption("--hazard <name>", "hazard of the layer")
    .requiredOption("--scenario <name>", "scenario of the layer")
    .requiredOption("--year <year>", "analysis year of the layer", readNumber)
    .requiredOption("--metric <name>", "metric of the layer, or rp_100 for the curve at 100 years (--keep-curves)")
    .option(
      "--bbox <W,S,E,N>",
      "write only the cells that intersect this box, in degrees; with W > E across the antimeridian, in longitudes beyond 180",
      readBox,
    )
    .requiredOption("--out <file>", "path of the GeoTIFF")
    .option("--json", "print the report as JSON")
    .addHelpText(
      "after",
      `
Example:
  isotherm atlas export data/atlas --hazard riverine_floods --scenario rcp4p5 --year 2030 --metric depth_meters \\
    --bbox 42,11,43,12 --out depth.tif`,
    )
    .action(async (folder: string, { out, json = false, ...flags }: ExportFlags) => {
      await withAtlas(folder, async (atlas) => {
        const report = await exportLayer(atlas, { ...flags, bbox: flags.bbox, file: out });
        const { file, rowCount, columnCount, validCellCount } = report;
        const text = `${file}: ${rowCount} rows x ${columnCount} columns, ${validCellCount} cells with data\n`;
        process.stdout.write(json ? indentedJson(report) : text);
      });
    });
  command
    .command("stac")
    .description("describe the atlas as STAC items, one for each hazard, in a GeoJSON feature collection")
    .argument("<folder>", "folder of the atlas")
    .addHelpText("after", "\nExample:\n  isotherm atlas stac data/atlas > items.json")
    .action(async (folder: string) => {
      await withAtlas(folder, async ({ catalog }) => void process.stdout.write(indentedJson(stacItems(catalog))));
    });
  command
    .command("verify")
    .description("read every byte: check the checksums, decode every tile and recompute the pyramid from the cells")
    .argument("<folder>", "folder of the atlas")
    .option("--json", "print the report as JSON")
    .addHelpText("after", "\nExits with 1 if the atlas is damaged.\n\nExample:\n  isotherm atlas verify data/atlas")
    .action(async (folder: string, { json = false }: { json?: boolean }) => {
      await withAtlas(folder, async (atlas, blobs) => {
        const bar = progressBar("bytes");
        const report = await verifyAtlas(atlas, { blobs, onProgress: bar.update });
        bar.stop();
        process.stdout.write(json ? indentedJson(report) : formatVerifyReport(report));
        if (report.problems.length > 0) process.exitCode = 1;
      });
    });
  command
    .command("publish")
    .description("write a folder for a static file host: the atlas, and with --explorer also a page that shows it")
    .argument("<atlas>", 'folder of the atlas, or "demo" with --explorer')
    .argument("<out>", "folder to write: new, empty, or an earlier publication, which is replaced")
    .option("--explorer", "add the explorer, which computes all values in the browser")
    .option("--json", "print the report as JSON")
    .addHelpText(
      "after",
      `
Files of the atlas are hard links if the file system allows it, and copies otherwise. All checksums are verified.

Example:
  isotherm atlas publish data/atlas site --explorer`,
    )
    .action(async (atlas: string, out: string, { explorer = false, json = false }: PublishFlags) => {
      const bar = progressBar("bytes");
      try {
        const report = await publishAtlas({ atlas, out, explorer, onProgress: bar.update });
        bar.stop();
        process.stdout.write(json ? indentedJson(report) : formatPublishReport(report));
      } finally {
        bar.stop();
      }
    });
  return command;
}

interface PublishFlags {
  readonly explorer?: boolean;
  readonly json?: boolean;
}

function formatPublishReport({ folder, release, explorer, files, bytes, linked, copied }: PublishReport): string {
  const content = release === undefined ? "the demo" : `release ${release}`;
  const atlasFiles = release === undefined ? "" : `; of the atlas, ${linked} linked and ${copied} copied`;
  return (
    `${folder}: ${content}${explorer ? " with the explorer" : ""}, ${files} files, ${bytes} bytes${atlasFiles}\n` +
    "Serve it from a host that supports range requests and does not compress the atlas: docs/explorer.md.\n"
  );
}

interface ExportFlags extends Omit<ExportRequest, "file" | "bbox"> {
  readonly bbox?: BoundingBox;
  readonly out: string;
  readonly json?: boolean;
}

async function withAtlas(folder: string, use: (atlas: PackedAtlas, blobs: Blobs) => Promise<void>): Promise<void> {
  if (folder === "demo") {
    throw new Fault(
      "atlas_not_found",
      "the demo atlas is computed and has no files to inspect. Query it with isotherm query --atlas demo; " +
        "for a folder named demo, write ./demo.",
    );
  }
  const kernel = await Kernel.load();
  const blobs = diskBlobs(folder);
  try {
    await use(await openPackedAtlas(kernel, blobs, { headerCacheBytes: 16 << 20 }), blobs);
  } finally {
    await blobs.close();
  }
}

function formatVerifyReport({ files, bytes, tiles, problems }: VerifyReport): string {
  const counts = `${files} files, ${bytes} bytes, ${tiles} tiles decoded`;
  if (problems.length === 0) return `OK: ${counts}\n`;
  return `DAMAGED: ${counts}\n${problems.map((problem) => `  ${problem}\n`).join("")}`;
}
