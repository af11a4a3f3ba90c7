import { readFileSync } from "node:fs";
import { describeIfShared, SHARED_FOLDER } from "./sharedFolder.ts";

/** Folder of public hazard maps, which is not part of the repository. */
export const SHARED_HAZARD_DATA = `${SHARED_FOLDER}data/hazard`;

/** Declares a suite that reads these maps; skipped, with the reason printed, if they are absent. */
export const describeWithSharedData = describeIfShared(["data/hazard"]);

/** One row of a `.samples.csv`: the value that GDAL reads from the map of the same name at a location. */
export interface Sample {
  readonly id: string;
  readonly latDeg: number;
  readonly lonDeg: number;
  readonly band: number;
  readonly isInside: boolean;
  readonly isNodata: boolean;
  readonly nearest: number | undefined;
  /** Also correct: the neighboring cell's value, for a location exactly on an edge. */
  readonly alternative: number | undefined;
  /** The values of all bands of a multi-band map. */
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
