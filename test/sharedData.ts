import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe } from "vitest";

/** Real hazard maps that lie beside the repository where it is developed; not every user of the project has them. */
export const SHARED_HAZARD_DATA = fileURLToPath(new URL("../../shared/data/hazard", import.meta.url));
const isHere = existsSync(SHARED_HAZARD_DATA);
if (!isHere) {
  // On CI a skipped test would be a check that cannot fail.
  if (process.env["CI"] === "true") throw new Error(`${SHARED_HAZARD_DATA} is needed on CI and not there.`);
  console.warn("skipped: ../shared/data/hazard is not here, and with it the maps that judge the reader");
}

/** A suite that needs those maps: skipped, with the reason printed, where they are absent. */
export const describeWithSharedData = describe.skipIf(!isHere);

/** One location of a `.samples.csv`: what GDAL reads there from the map beside it. */
export interface Sample {
  readonly id: string;
  readonly latDeg: number;
  readonly lonDeg: number;
  readonly band: number;
  readonly isInside: boolean;
  readonly isNodata: boolean;
  readonly nearest: number | undefined;
  /** Also right: the neighbour, for a location exactly on an edge. */
  readonly alternative: number | undefined;
  /** The values of all bands of a map of several. */
  readonly allBands: readonly number[] | undefined;
}

export function readSamples(path: string): readonly Sample[] {
  const [head = [], ...rows] = readFileSync(path, "utf8").trim().split("\n").map(fieldsOf);
  return rows.map((row) => {
    const text = (name: string): string => row[head.indexOf(name)] ?? "";
    const number = (name: string): number | undefined => (text(name) === "" ? undefined : Number(text(name)));
    const allBands = text("all_bands_nearest").replaceAll(/\b(nan|None)\b/gi, "null");
    return {
      id: text("id"),
      latDeg: Number(text("lat")),
      lonDeg: Number(text("lon")),
      band: Number(text("band")),
      isInside: text("inside") === "1",
      isNodata: text("is_nodata") === "1",
      nearest: number("nearest_value"),
      alternative: number("alt_nearest_value"),
      allBands: allBands === "" ? undefined : (JSON.parse(allBands) as number[]),
    };
  });
}

function fieldsOf(line: string): readonly string[] {
  return [...line.matchAll(/("([^"]*)"|[^,]*)(,|\r?$)/g)].map(([, plain = "", quoted]) => quoted ?? plain);
}
