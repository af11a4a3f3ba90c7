/** The manifest of an output. */
import { Fault } from "../../errors.ts";
import { findSchemaErrors, type ValueSchema } from "../../schemaErrors.ts";
import type { Atlas, AtlasHoldings } from "../../hazard/answer.ts";
import type { HazardName } from "../../hazard/hazards.ts";
import type { ScoreGroup } from "../../hazard/scoring/scoreRequest.ts";
import type { RowError } from "../../places/placeBlock.ts";
import type { Omission } from "../../places/scorePlan.ts";
import type { OutputColumn } from "../writers/outputColumns.ts";
import { OUTPUT_FORMATS, type PlaceJob, SHARD_COUNT_MAX } from "./placeJob.ts";
import {
  type InvalidRow,
  LISTED_INVALID_ROW_COUNT_MAX,
  type SegmentRecord,
  type StatusCounts,
} from "./segmentRecord.ts";

/** What an output has, apart from its rows. */
export interface OutputFacts {
  readonly groups: readonly ScoreGroup[];
  readonly columns: readonly Pick<OutputColumn, "name" | "type">[];
  readonly hazards: readonly HazardDescription[];
  /** Whether the values are synthetic, as in the demo. */
  readonly synthetic: boolean;
  readonly omissions: readonly Omission[];
}

/** Describes an output file, so that parts can be verified and joined, and values can be traced to their sources. */
export interface PlaceManifest extends PlaceJob, OutputFacts {
  readonly isotherm_portfolio_manifest: 1;
  readonly output: OutputDescription;
  readonly place_count: number;
  readonly segments: readonly SegmentRecord[];
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

/** Sums the counts of segments. */
export function totalsOf(records: readonly SegmentRecord[]): {
  readonly placeCount: number;
  readonly rowCount: number;
  readonly statuses: StatusCounts;
  readonly invalidRows: SegmentRecord["invalidRows"];
  readonly invalidRowCount: number;
  readonly listedInvalidRows: readonly InvalidRow[];
} {
  let [placeCount, rowCount, invalidRowCount] = [0, 0, 0];
  const statuses: Partial<Record<HazardName, Record<string, number>>> = {};
  const invalidRows: Partial<Record<RowError["reason"], number>> = {};
  for (const record of records) {
    placeCount += record.placeCount;
    rowCount += record.rowCount;
    for (const [hazard, counts] of Object.entries(record.statuses)) {
      const total = (statuses[hazard as HazardName] ??= {});
      for (const [status, count] of Object.entries(counts)) total[status] = (total[status] ?? 0) + count;
    }
    for (const [name, count] of Object.entries(record.invalidRows)) {
      const reason = name as RowError["reason"];
      invalidRows[reason] = (invalidRows[reason] ?? 0) + count;
      invalidRowCount += count;
    }
  }
  const listed = records.flatMap(({ listedInvalidRows }) => listedInvalidRows).slice(0, LISTED_INVALID_ROW_COUNT_MAX);
  return { placeCount, rowCount, statuses, invalidRows, invalidRowCount, listedInvalidRows: listed };
}

const TEXT = { type: "string" };
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
    input_format: { type: ["string", "null"] },
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
    hazards: LIST,
    omissions: LIST,
    segments: {
      type: "array",
      items: {
        type: "object",
        required: ["block", "sizeBytes", "rowCount", "placeCount", "statuses", "invalidRows", "listedInvalidRows"],
        properties: {
          block: COUNT,
          sizeBytes: COUNT,
          rowCount: COUNT,
          placeCount: COUNT,
          statuses: { type: "object" },
          invalidRows: { type: "object" },
          listedInvalidRows: LIST,
        },
      },
    },
  },
};

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
