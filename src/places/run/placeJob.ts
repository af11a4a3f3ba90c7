import type { Atlas } from "../../hazard/answer.ts";
import type { PlaceFileOptions } from "../../contract/wireTypes.ts";
import { version } from "../../version.ts";
import { ROWS_PER_BLOCK } from "../scores/placeBlock.ts";

export const OUTPUT_FORMATS = ["csv", "ndjson", "parquet", "geoparquet"] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** Largest number of parts. */
export const SHARD_COUNT_MAX = 999_999;

/** The part of the blocks that a run writes: those with `block % count === index - 1`. */
export interface Shard {
  /** From 1. */
  readonly index: number;
  readonly count: number;
}

/** Everything that determines the bytes of an output file. */
export interface PlaceJob {
  readonly program_version: string;
  readonly input: InputIdentity;
  /** Null if the extension of the input determines it. */
  readonly input_format: string | null;
  readonly output_format: OutputFormat;
  readonly options: PlaceFileOptions;
  readonly atlas: { readonly release: string; readonly content_hash: string };
  readonly shard: Shard | null;
  readonly rows_per_block: number;
}

export interface InputIdentity {
  readonly name: string;
  readonly size_bytes: number;
  readonly sha256: string;
}

/** Describes what determines the output, except for the input. */
export function describeJob(
  atlas: Pick<Atlas, "release" | "contentHash">,
  job: Omit<PlaceJob, "program_version" | "atlas" | "rows_per_block">,
): PlaceJob {
  return {
    program_version: version,
    ...job,
    atlas: { release: atlas.release, content_hash: atlas.contentHash },
    rows_per_block: ROWS_PER_BLOCK,
  };
}

/** A member in which two jobs differ, in words. */
export interface JobDifference {
  readonly name: string;
  readonly before: string;
  readonly now: string;
}

/** Returns how two jobs differ; empty if they write the same bytes. @param earlier parsed JSON of an earlier job */
export function findJobDifferences(earlier: unknown, job: PlaceJob): readonly JobDifference[] {
  const before = describedMembers(earlier ?? {});
  const now = describedMembers(job);
  const differences = [...new Set([...before.keys(), ...now.keys()])].flatMap((name) => {
    const [one = NOT_SET, other = NOT_SET] = [before.get(name), now.get(name)];
    return one === other ? [] : [{ name, before: one, now: other }];
  });
  // Another release has another content.
  const isOtherRelease = differences.some(({ name }) => name === "release");
  return isOtherRelease ? differences.filter(({ name }) => name !== "content of the atlas") : differences;
}

const NOT_SET = "not set";

/** Returns what determines the output, by name and as text. */
function describedMembers({ input, options, atlas, ...job }: Partial<PlaceJob>): ReadonlyMap<string, string> {
  const { $schema: _, ...named } = (options ?? {}) as Record<string, unknown>;
  const { shard } = job;
  const members: Readonly<Record<string, unknown>> = {
    // The name of the input has no effect.
    input: input === undefined ? undefined : `${input.size_bytes} bytes with SHA-256 ${input.sha256}`,
    ...named,
    release: atlas?.release,
    "content of the atlas": atlas?.content_hash,
    "version of Isotherm": job.program_version,
    input_format: job.input_format,
    output_format: job.output_format,
    part: shard === null || shard === undefined ? undefined : `${shard.index} of ${shard.count}`,
    rows_per_block: job.rows_per_block,
  };
  return new Map(Object.entries(members).map(([name, value]) => [name.replaceAll("_", " "), valueText(value)]));
}

function valueText(value: unknown): string {
  if (value === undefined || value === null) return NOT_SET;
  if (Array.isArray(value)) return value.map(valueText).join(", ");
  if (typeof value === "string") return value;
  if (typeof value !== "object") return JSON.stringify(value);
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return members.map(([name, member]) => `${name}=${valueText(member)}`).join(", ");
}

/** Returns JSON with sorted members; undefined for undefined. */
export function stableJson(value: unknown): string | undefined {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
