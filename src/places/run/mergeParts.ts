/** Joins the parts that shards have written into the file that a single run would have written. */
import { open, readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { FAULT_ITEM_COUNT_MAX, Fault, isFault } from "../../errors.ts";
import { hashFile, isNotFound, readFully } from "../../files/files.ts";
import { openFooter, placeOutputFormat } from "./outputFormat.ts";
import { findJobDifferences, type PlaceJob, stableJson } from "./placeJob.ts";
import type { OutputDisk } from "./outputDisk.ts";
import { parseManifest, type PlaceManifest, statedCounts } from "./placeManifest.ts";
import { type PlaceReport, RunClock } from "./placeReport.ts";
import { checkReplacedPart, publishOutput } from "./publishOutput.ts";
import { addCounts, NO_COUNTS, type SegmentRecord } from "./segmentRecord.ts";
import { manifestPathOf, PartialOutput, withWorkFolder } from "./workFolder.ts";

const COPY_SIZE_BYTES = 4 << 20;

export interface PartMerge {
  readonly output: string;
  /** Paths of all parts, in any order. Each has its manifest next to it. */
  readonly parts: readonly string[];
  readonly restart?: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Called with the size of the copied segments, including those of an interrupted merge. */
  readonly onProgress?: (progress: { readonly doneBytes: number; readonly sizeBytes: number }) => void;
  readonly disk?: OutputDisk | undefined;
}

interface Part {
  readonly path: string;
  readonly manifest: PlaceManifest;
}

/**
 * Verifies and joins parts.
 * @throws Fault `invalid_request` with everything that is wrong with the parts: missing, repeated or damaged parts, and parts
 *   of other inputs, options, releases or rules
 */
export async function mergeParts(merge: PartMerge): Promise<PlaceReport> {
  const clock = new RunClock({ hasWorkers: false });
  if (merge.parts.some((path) => resolve(path) === resolve(merge.output))) {
    throw new Fault("invalid_request", `${merge.output} is also a part; choose another name for OUT.`);
  }
  const parts = await readParts(merge.parts);
  const [first] = parts;
  if (first === undefined) throw new Fault("invalid_request", "there are no parts to merge.");
  throwIfAny(findPartErrors(parts));
  throwIfAny(await clock.timePromise("reading", findDamagedParts(parts)));
  const { manifest } = first;
  const job = { ...jobOf(manifest), shard: null };
  placeOutputFormat(merge.output, { to: job.output_format });
  const footer = await openFooter(job.output_format, manifest.columns, job);
  const header = await readHeader(first);
  return await withWorkFolder(merge, async () => {
    const { output, restart = false, disk } = merge;
    if (!restart) await checkReplacedPart(output, undefined);
    const partial = await PartialOutput.open({ output, job, header, restart, needsCounts: false, disk });
    try {
      await copySegments(partial, { parts, clock, merge });
      const { groups, columns, hazards, synthetic, omissions, omitted_columns } = manifest;
      const stated = statedPlaceColumns(parts);
      const facts = {
        groups,
        columns,
        ...(stated === undefined ? {} : { place_columns: stated }),
        hazards,
        synthetic,
        omissions,
        ...(omitted_columns === undefined ? {} : { omitted_columns }),
      };
      const counts = parts.reduce((sum, part) => addCounts(sum, statedCounts(part.manifest)), NO_COUNTS);
      return await publishOutput(partial, { path: output, job, facts, counts, footer, clock, resumedPlaceCount: 0 });
    } finally {
      await partial.close();
    }
  });
}

function jobOf(manifest: PlaceManifest): PlaceJob {
  const { program_version, input, input_format, output_format, options, atlas, shard, rows_per_block } = manifest;
  return { program_version, input, input_format, output_format, options, atlas, shard, rows_per_block };
}

function throwIfAny(errors: readonly string[]): void {
  const [first] = errors;
  if (first === undefined) return;
  const items = errors
    .slice(0, FAULT_ITEM_COUNT_MAX)
    .map((detail) => ({ pointer: "", code: "not_allowed", detail }) as const);
  throw new Fault("invalid_request", `The parts cannot be merged. ${first}`, { items });
}

/** @throws Fault `invalid_request` naming all manifests that are missing or damaged */
async function readParts(paths: readonly string[]): Promise<readonly Part[]> {
  // One after another, because the number of open files is limited.
  const read: (Part | string)[] = [];
  for (const path of paths) read.push(await readPart(path));
  throwIfAny(read.flatMap((part) => (typeof part === "string" ? [part] : [])));
  return read.filter((part) => typeof part !== "string");
}

/** Returns a part, or the error in its manifest as text. */
async function readPart(path: string): Promise<Part | string> {
  const manifestPath = manifestPathOf(path);
  try {
    return { path, manifest: parseManifest(await readFile(manifestPath, "utf8"), manifestPath) };
  } catch (error) {
    if (isNotFound(error)) return `${manifestPath}: no such file. A part has its manifest when it is complete.`;
    if (isFault(error)) return error.message;
    throw error;
  }
}

/** Returns what is wrong with the set of parts. */
function findPartErrors(parts: readonly Part[]): readonly string[] {
  const errors: string[] = [];
  const [first] = parts as readonly [Part, ...Part[]];
  const reference = { ...jobOf(first.manifest), shard: null };
  const byIndex = new Map<number, Part>();
  for (const part of parts) {
    const { path, manifest } = part;
    const { shard, output, segments } = manifest;
    if (shard === null) {
      errors.push(`${path} is a complete output, not a part.`);
      continue;
    }
    const differences = findJobDifferences(reference, { ...jobOf(manifest), shard: null }).map(
      ({ name, before, now }) => `${name} is ${now} instead of ${before}`,
    );
    if (differences.length === 0 && !haveSameRules(first, part))
      differences.push("the rules or sources of the atlas differ");
    if (differences.length === 0 && !haveSamePlaceColumns(parts, part))
      differences.push("the columns that identify and locate the places differ");
    if (differences.length > 0) errors.push(`${path} does not belong to ${first.path}: ${differences.join("; ")}.`);
    if (shard.count !== first.manifest.shard?.count) {
      errors.push(`${path} is a part of ${shard.count}, and ${first.path} of ${first.manifest.shard?.count}.`);
      continue;
    }
    const other = byIndex.get(shard.index);
    if (other === undefined) byIndex.set(shard.index, part);
    else errors.push(`${path} and ${other.path} are both part ${shard.index} of ${shard.count}.`);
    const isWhole = sizeOf(segments) + output.header_size_bytes + output.footer_size_bytes === output.size_bytes;
    const isInOrder = segments.every(({ block }, i) => block === shard.index - 1 + i * shard.count);
    if (!isWhole || !isInOrder) errors.push(`${manifestPathOf(path)} contradicts itself; write the part again.`);
  }
  const count = first.manifest.shard?.count ?? 0;
  const missing = Array.from({ length: count }, (_, i) => i + 1).filter((index) => !byIndex.has(index));
  if (errors.length === 0 && missing.length === 0 && !areContiguous(parts))
    errors.push("Blocks of the input are missing.");
  if (missing.length > 0) errors.push(`Missing of ${count} parts: ${missing.join(", ")}.`);
  return errors;
}

function areContiguous(parts: readonly Part[]): boolean {
  const blocks = parts.flatMap(({ manifest }) => manifest.segments.map(({ block }) => block));
  return blocks.toSorted((a, b) => a - b).every((block, i) => block === i);
}

function haveSameRules(a: Part, b: Part): boolean {
  return JSON.stringify(a.manifest.hazards) === JSON.stringify(b.manifest.hazards);
}

/** Returns the place columns of the first part with them: parts that earlier versions have written do not state them. */
function statedPlaceColumns(parts: readonly Part[]): PlaceManifest["place_columns"] {
  return parts.find(({ manifest }) => manifest.place_columns !== undefined)?.manifest.place_columns;
}

function haveSamePlaceColumns(parts: readonly Part[], { manifest: { place_columns } }: Part): boolean {
  return place_columns === undefined || stableJson(place_columns) === stableJson(statedPlaceColumns(parts));
}

/** Compares the files with their manifests. */
async function findDamagedParts(parts: readonly Part[]): Promise<readonly string[]> {
  const errors: string[] = [];
  for (const { path, manifest } of parts) {
    try {
      const { size } = await stat(path);
      const { size_bytes, sha256 } = manifest.output;
      if (size !== size_bytes) errors.push(`${path} has ${size} bytes, and its manifest states ${size_bytes}.`);
      else if ((await hashFile(path)) !== sha256)
        errors.push(`${path} does not have the SHA-256 that its manifest states.`);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      errors.push(`${path}: no such file.`);
    }
  }
  return errors;
}

async function readHeader({ path, manifest }: Part): Promise<Uint8Array> {
  const file = await open(path, "r");
  try {
    const header = Buffer.alloc(manifest.output.header_size_bytes);
    await readFully(file, header, 0);
    return header;
  } finally {
    await file.close();
  }
}

function sizeOf(segments: readonly SegmentRecord[]): number {
  return segments.reduce((size, segment) => size + segment.sizeBytes, 0);
}

/** Copies the segments of all parts in the order of their blocks. */
async function copySegments(
  partial: PartialOutput,
  { parts, clock, merge }: { readonly parts: readonly Part[]; readonly clock: RunClock; readonly merge: PartMerge },
): Promise<void> {
  const segments = parts
    .flatMap(({ path, manifest }) => {
      let offset = manifest.output.header_size_bytes;
      return manifest.segments.map((record) => {
        const segment = { path, record, offset };
        offset += record.sizeBytes;
        return segment;
      });
    })
    .toSorted((a, b) => a.record.block - b.record.block);
  const sizeBytes = sizeOf(segments.map(({ record }) => record));
  const resumed = partial.segments.length;
  let doneBytes = sizeOf(partial.segments);
  const buffer = Buffer.alloc(COPY_SIZE_BYTES);
  for (const { path, record, offset } of segments.slice(resumed)) {
    const file = await open(path, "r");
    try {
      for (let copied = 0; copied < record.sizeBytes;) {
        merge.signal?.throwIfAborted();
        const piece = buffer.subarray(0, Math.min(COPY_SIZE_BYTES, record.sizeBytes - copied));
        await clock.timePromise("reading", readFully(file, piece, offset + copied));
        await clock.timePromise("writing", partial.append(piece));
        copied += piece.length;
        doneBytes += piece.length;
        merge.onProgress?.({ doneBytes, sizeBytes });
      }
    } finally {
      await file.close();
    }
    await clock.timePromise("writing", partial.commit(record));
  }
}
