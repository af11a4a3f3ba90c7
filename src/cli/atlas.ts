import Table from "cli-table3";
import { Command } from "commander";
import { diskBlobs } from "../atlas/diskBlobs.ts";
import { openPackedAtlas, type PackedAtlas } from "../atlas/packedAtlas.ts";
import { supplementedHazard, supplementKindOf, supplementName } from "../atlas/supplement.ts";
import { type VerifyReport, verifyAtlas } from "../atlas/verify.ts";
import type { Blobs } from "../atlas/blobs.ts";
import { Fault } from "../errors.ts";
import { Kernel } from "../kernel/instance.ts";
import { progressBar } from "./progress.ts";

/** `isotherm atlas`: shows the content of an atlas and verifies its files. */
export function atlasCommand(): Command {
  const command = new Command("atlas").description("inspect and verify an atlas");
  command
    .command("info")
    .description("show the hazards, grids, layers, rules, sources and files of an atlas")
    .argument("<folder>", "folder of the atlas")
    .option("--json", "print the complete catalog as JSON")
    .addHelpText("after", "\nExample:\n  isotherm atlas info data/atlas")
    .action(async (folder: string, { json = false }: { json?: boolean }) => {
      await withAtlas(folder, async (atlas) => {
        process.stdout.write(json ? `${JSON.stringify(atlas.catalog, undefined, 2)}\n` : formatInfo(atlas));
      });
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
        process.stdout.write(json ? `${JSON.stringify(report, undefined, 2)}\n` : formatVerifyReport(report));
        if (report.problems.length > 0) process.exitCode = 1;
      });
    });
  return command;
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

function formatInfo({ catalog }: PackedAtlas): string {
  const lines = [
    `release ${catalog.release}${catalog.synthetic ? " (SYNTHETIC: not real data)" : ""}, created ${catalog.created_at}`,
  ];
  for (const { hazard, grid, rules, packs } of catalog.hazards) {
    // A supplement is described with its hazard.
    if (supplementedHazard(hazard) !== undefined) continue;
    const { north_deg, west_deg, cell_size_lat_deg, cell_size_lon_deg, row_count, column_count } = grid;
    const south = north_deg - row_count * cell_size_lat_deg;
    const east = west_deg + column_count * cell_size_lon_deg;
    lines.push(
      "",
      hazard,
      `  grid      ${row_count} rows x ${column_count} columns of ${cell_size_lat_deg} x ${cell_size_lon_deg} degrees (latitude x longitude)`,
      `  covers    ${south} to ${north_deg} north, ${west_deg} to ${east} east`,
      `  rules     ${Object.entries(rules)
        .map(([name, value]) => `${name} ${String(value)}`)
        .join(", ")}`,
    );
    const table = new Table({
      head: ["scenario", "year", "metrics", "source", "pack"],
      style: { head: [], border: [], compact: true },
    });
    for (const { id, groups } of packs) {
      for (const { scenario, year, layers, provenance, superseded } of groups) {
        if (superseded === true) continue;
        const { product, recipe } = provenance;
        const source = [product, recipe].filter((part) => typeof part === "string").join(", ");
        table.push([scenario, String(year), layers.map(({ metric }) => metric).join("\n"), source, id]);
      }
    }
    lines.push(table.toString(), ...supplementLines(catalog, hazard));
  }
  return `${lines.join("\n")}\n`;
}

/** Returns the lines that describe the curves and ranges of a hazard; none if the atlas has none. */
function supplementLines({ hazards }: PackedAtlas["catalog"], hazard: string): readonly string[] {
  const packs = hazards.find((entry) => entry.hazard === supplementName(hazard))?.packs ?? [];
  const groups = packs.flatMap((pack) => pack.groups).filter(({ superseded }) => superseded !== true);
  const layers = new Map<string, number>();
  for (const group of groups) {
    const kind = supplementKindOf(group);
    if (kind === undefined) continue;
    const name = `${kind} of ${group.scenario} ${group.year}`;
    layers.set(name, (layers.get(name) ?? 0) + group.layers.length);
  }
  return [...layers].map(([name, count]) => `  keeps     ${name}, ${count} layers`);
}

function formatVerifyReport({ files, bytes, tiles, problems }: VerifyReport): string {
  const counts = `${files} files, ${bytes} bytes, ${tiles} tiles decoded`;
  if (problems.length === 0) return `OK: ${counts}\n`;
  return `DAMAGED: ${counts}\n${problems.map((problem) => `  ${problem}\n`).join("")}`;
}
