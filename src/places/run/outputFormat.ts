import { extname } from "node:path";
import type { KeyValue } from "hyparquet";
import { Fault } from "../../errors.ts";
import { requirePackages } from "../../validation/optionalPackages.ts";
import type { SegmentFormat } from "../segmentFormat.ts";
import { CSV_SYNTAX, NDJSON_SYNTAX, rowTextFormat } from "../writers/rowText.ts";
import type { OutputColumn, OutputPlan } from "../writers/outputColumns.ts";
import { parquetFooter, parquetFormat } from "../writers/parquetFormat.ts";
import { OUTPUT_FORMATS, type OutputFormat, type PlaceJob, stableJson } from "./placeJob.ts";

const FORMAT_OF_EXTENSION: Readonly<Record<string, OutputFormat>> = {
  ".csv": "csv",
  ".ndjson": "ndjson",
  ".jsonl": "ndjson",
  ".parquet": "parquet",
  ".geoparquet": "geoparquet",
};

/**
 * Determines the format of an output from its extension, case-insensitively, or from `to`.
 * @param options.geo whether a Parquet file gets a geometry
 * @throws Fault `configuration_invalid` naming the accepted extensions
 */
export function placeOutputFormat(
  output: string,
  { to, geo = false }: { readonly to?: OutputFormat | undefined; readonly geo?: boolean | undefined },
): OutputFormat {
  const extension = extname(output).toLowerCase();
  const named = Object.hasOwn(FORMAT_OF_EXTENSION, extension) ? FORMAT_OF_EXTENSION[extension] : undefined;
  const extensions = Object.keys(FORMAT_OF_EXTENSION).join(", ");
  if (output === "-") {
    throw fault(
      "Standard output is not supported: the output must be a file, so that an interrupted run can be resumed.",
    );
  }
  if (named === undefined && to === undefined) {
    const what = extension === "" ? "the name has no extension" : `the extension ${extname(output)} is not supported`;
    throw fault(
      `${output}: ${what}; OUT must end in ${extensions}, or set --to to one of ${OUTPUT_FORMATS.join(", ")}.`,
    );
  }
  const isParquet = (format: OutputFormat | undefined): boolean => format === "parquet" || format === "geoparquet";
  if (named !== undefined && to !== undefined && named !== to && !(isParquet(named) && isParquet(to))) {
    throw fault(`${output}: the extension means ${named}, but --to requests ${to}; change one of them.`);
  }
  const format = to ?? named;
  if (geo && !isParquet(format)) {
    throw fault(`${output}: only Parquet files have a geometry (--geo); OUT must end in .parquet or .geoparquet.`);
  }
  return geo ? "geoparquet" : (format ?? "csv");
}

/** Returns the format of an output. Loads the packages that it needs. */
export async function openSegmentFormat(format: OutputFormat, plan: OutputPlan, job: PlaceJob): Promise<SegmentFormat> {
  return await openRowFormat(format, plan, keyValuesOf(job));
}

/** As `openSegmentFormat`. @param keyValues metadata of a Parquet file, which only the footer contains */
export async function openRowFormat(
  format: OutputFormat,
  plan: OutputPlan,
  keyValues: readonly KeyValue[],
): Promise<SegmentFormat> {
  if (format === "csv") return rowTextFormat(plan, CSV_SYNTAX);
  if (format === "ndjson") return rowTextFormat(plan, NDJSON_SYNTAX);
  requireParquet();
  return await parquetFormat(plan, keyValues);
}

/** Returns the function that writes the footer of an output with these columns, as `openSegmentFormat` does. */
export async function openFooter(
  format: OutputFormat,
  columns: readonly Pick<OutputColumn, "name" | "type">[],
  job: PlaceJob,
): Promise<SegmentFormat["footer"]> {
  if (format === "csv" || format === "ndjson") return undefined;
  requireParquet();
  return await parquetFooter({ columns, keyValues: keyValuesOf(job) });
}

function requireParquet(): void {
  requirePackages("Parquet output", ["hyparquet", "hyparquet-writer"]);
}

/**
 * Returns the metadata of a Parquet file. Depends only on what `findJobDifferences` compares, so that it is the same in the
 * parts of an output, in the whole, and for equal inputs with different names.
 */
function keyValuesOf({ program_version, input, options, atlas }: PlaceJob): readonly KeyValue[] {
  const { size_bytes, sha256 } = input;
  const value = stableJson({
    program_version,
    input: { size_bytes, sha256 },
    options: { ...options, $schema: undefined },
    atlas,
  });
  return [{ key: "isotherm", value: value ?? "" }];
}

function fault(message: string): Fault {
  return new Fault("configuration_invalid", message);
}
