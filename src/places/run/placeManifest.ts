/** The manifest of an output. */
import { Fault } from "../../errors.ts";
import { findSchemaErrors, type ValueSchema } from "../../validation/schemaErrors.ts";
import type { Atlas, AtlasHoldings } from "../../hazard/answer.ts";
import type { HazardName } from "../../hazard/hazards.ts";
import type { ScoreGroup } from "../../hazard/scoring/scoreRequest.ts";
import type { Omission } from "../scores/scorePlan.ts";
import type { OutputColumn } from "../writers/outputColumns.ts";
import { OUTPUT_FORMATS, type PlaceJob, SHARD_COUNT_MAX } from "./placeJob.ts";
import type { InvalidRow, RowCounts, SegmentRecord, StatusCounts } from "./segmentRecord.ts";

/** What an output has, apart from its rows. */
export interface OutputFacts {
  readonly groups: readonly ScoreGroup[];
  readonly columns: readonly Pick<OutputColumn, "name" | "type">[];
  /** Names of the columns that identify and locate the places. Absent in manifests of earlier versions. */
  readonly place_columns?: StatedPlaceColumns;
  readonly hazards: readonly HazardDescription[];
  /** Whether the values are synthetic, as in the demo. */
  readonly synthetic: boolean;
  readonly omissions: readonly Omission[];
  /** Columns of the input that are not in the output. Absent in manifests of earlier versions. */
  readonly omitted_columns?: readonly string[];
}

interface StatedPlaceColumns {
  /** Null if the places have no identifier. */
  readonly id: string | null;
  readonly latitude: string | null;
  readonly longitude: string | null;
}

/** Describes an output file, so that parts can be verified and joined, and values can be traced to their sources. */
export interface PlaceManifest extends PlaceJob, OutputFacts {
  readonly isotherm_portfolio_manifest: 1;
  readonly output: OutputDescription;
  readonly place_count: number;
  readonly statuses: StatusCounts;
  readonly invalid_rows: InvalidRows;
  readonly segments: readonly SegmentRecord[];
}

/** Invalid rows as in the manifest and the report. */
export interface InvalidRows {
  readonly by_reason: RowCounts["invalidRows"];
  readonly first: readonly InvalidRow[];
}

interface OutputDescription {
  readonly name: string;
  readonly size_bytes: number;
  readonly sha256: string;
  readonly row_count: number;
  readonly header_size_bytes: number;
  readonly footer_size_bytes: number;
}

/** Rules and sources of a hazard. */
export interface HazardDescription {
  readonly hazard: HazardName;
  readonly rules: AtlasHoldings["rules"];
  /** Distinct sources of the layers that were used. */
  readonly sources: readonly Readonly<Record<string, unknown>>[];
}

/** Describes the rules and sources of the hazards of groups. */
export function hazardDescriptions(
  { holdings }: Pick<Atlas, "holdings">,
  groups: readonly ScoreGroup[],
): readonly HazardDescription[] {
  const hazards = new Set(groups.map(({ hazard }) => hazard));
  return holdings
    .filter(({ hazard }) => hazards.has(hazard))
    .map(({ hazard, rules, layers }) => {
      const used = layers.filter((layer) =>
        groups.some(
          (group) =>
            group.hazard === hazard && group.scenario === layer.scenario && group.analysisYear === layer.analysis_year,
        ),
      );
      const sources = new Map(used.map(({ source }) => [JSON.stringify(source), source]));
      return { hazard, rules, sources: [...sources.values()] };
    });
}

const TEXT = { type: "string" };
const TEXT_OR_NULL = { type: ["string", "null"] };
const COUNT = { type: "integer", minimum: 0 };
const SHARD_NUMBER = { type: "integer", minimum: 1, maximum: SHARD_COUNT_MAX };
const LIST = { type: "array", items: { type: "object" } };

/** The members that are needed to read a manifest. */
const MANIFEST_SHAPE: ValueSchema = {
  type: "object",
  required: [
    "isotherm_portfolio_manifest",
    "program_version",
    "input",
    "input_format",
    "output_format",
    "options",
    "atlas",
    "shard",
    "rows_per_block",
    "synthetic",
    "output",
    "groups",
    "columns",
    "hazards",
    "omissions",
    "place_count",
    "statuses",
    "invalid_rows",
    "segments",
  ],
  properties: {
    isotherm_portfolio_manifest: { type: "integer", minimum: 1, maximum: 1 },
    program_version: TEXT,
    input: {
      type: "object",
      required: ["name", "size_bytes", "sha256"],
      properties: { name: TEXT, size_bytes: COUNT, sha256: TEXT },
    },
    output_format: { type: "string", enum: OUTPUT_FORMATS },
    options: { type: "object" },
    input_format: TEXT_OR_NULL,
    shard: {
      anyOf: [
        { type: "null" },
        { type: "object", required: ["index", "count"], properties: { index: SHARD_NUMBER, count: SHARD_NUMBER } },
      ],
    },
    rows_per_block: COUNT,
    synthetic: { type: "boolean" },
    atlas: { type: "object", required: ["release", "content_hash"], properties: { release: TEXT, content_hash: TEXT } },
    output: {
      type: "object",
      required: ["name", "size_bytes", "sha256", "row_count", "header_size_bytes", "footer_size_bytes"],
      properties: {
        name: TEXT,
        size_bytes: COUNT,
        sha256: TEXT,
        row_count: COUNT,
        header_size_bytes: COUNT,
        footer_size_bytes: COUNT,
      },
    },
    groups: {
      type: "array",
      items: { type: "object", required: ["metrics"], properties: { metrics: { type: "array", items: TEXT } } },
    },
    columns: {
      type: "array",
      items: { type: "object", required: ["name", "type"], properties: { name: TEXT, type: TEXT } },
    },
    place_columns: {
      type: "object",
      required: ["id", "latitude", "longitude"],
      properties: { id: TEXT_OR_NULL, latitude: TEXT_OR_NULL, longitude: TEXT_OR_NULL },
    },
    hazards: LIST,
    omissions: LIST,
    omitted_columns: { type: "array", items: TEXT },
    place_count: COUNT,
    statuses: { type: "object" },
    invalid_rows: {
      type: "object",
      required: ["by_reason", "first"],
      properties: { by_reason: { type: "object" }, first: LIST },
    },
    segments: {
      type: "array",
      items: {
        type: "object",
        required: ["block", "sizeBytes", "rowCount", "placeCount"],
        properties: { block: COUNT, sizeBytes: COUNT, rowCount: COUNT, placeCount: COUNT },
      },
    },
  },
};

/** Returns the counts that a manifest states. */
export function statedCounts({ statuses, invalid_rows }: PlaceManifest): RowCounts {
  return { statuses, invalidRows: invalid_rows.by_reason, listedInvalidRows: invalid_rows.first };
}

/**
 * Parses a manifest.
 * @param path the file, for messages
 * @throws Fault `invalid_request` if it is not a manifest
 */
export function parseManifest(text: string, path: string): PlaceManifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new Fault("invalid_request", `${path} is not a manifest of isotherm portfolio: it is not JSON.`, { cause });
  }
  const [error] = findSchemaErrors(MANIFEST_SHAPE, value, { name: "the manifest" });
  if (error === undefined) return value as PlaceManifest;
  throw new Fault(
    "invalid_request",
    `${path} is not a manifest of isotherm portfolio: ${error.pointer} ${error.detail}`,
  );
}
