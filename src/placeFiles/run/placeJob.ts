import type { Atlas } from "../../hazard/answer.ts";
import type { PlaceFileOptions } from "../../contract/wireTypes.ts";
import { version } from "../../version.ts";
import { ROWS_PER_BLOCK } from "../../places/placeBlock.ts";

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

/**
 * Returns how two jobs differ, as texts for a message; empty if they write the same bytes.
 * @param earlier parsed JSON of an earlier job
 */
export function findJobDifferences(earlier: unknown, job: PlaceJob): readonly string[] {
  const { input, options, atlas, ...values } = (earlier ?? {}) as Partial<PlaceJob>;
  const differences: string[] = [];
  const compare = (name: string, before: unknown, now: unknown): void => {
    if (stableJson(before) !== stableJson(now)) {
      differences.push(`${name} was ${stableJson(before) ?? "not set"} and is now ${stableJson(now) ?? "not set"}`);
    }
  };
  if (input?.sha256 !== job.input.sha256 || input.size_bytes !== job.input.size_bytes) {
    differences.push(
      `the input ${job.input.name} has changed (${input?.size_bytes} bytes with SHA-256 ${input?.sha256}, now ` +
        `${job.input.size_bytes} bytes with SHA-256 ${job.input.sha256})`,
    );
  }
  for (const name of new Set([...Object.keys(options ?? {}), ...Object.keys(job.options)])) {
    if (name === "$schema") continue;
    compare(
      name,
      (options as Record<string, unknown> | undefined)?.[name],
      (job.options as Record<string, unknown>)[name],
    );
  }
  compare("the release of the atlas", atlas?.release, job.atlas.release);
  if (atlas?.release === job.atlas.release) {
    compare("the content of the atlas", atlas.content_hash, job.atlas.content_hash);
  }
  for (const name of ["program_version", "input_format", "output_format", "shard", "rows_per_block"] as const) {
    compare(name.replaceAll("_", " "), values[name], job[name]);
  }
  return differences;
}

/** Returns JSON with sorted members; undefined for undefined. */
export function stableJson(value: unknown): string | undefined {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
