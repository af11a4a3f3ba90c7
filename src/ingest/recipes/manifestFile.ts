/** Reads JSON manifests, and reports all of their errors at once, each with its JSON pointer. */
import { readdir, readFile } from "node:fs/promises";
import { Fault, FAULT_ITEM_COUNT_MAX, type FaultItem } from "../../errors.ts";
import { BASELINE, type HazardSpec, type Scenario } from "../../hazard/hazards.ts";
import { findSchemaErrors, type ValueSchema } from "../../validation/schemaErrors.ts";
import { messageOf, type RasterOptions } from "../raster.ts";
import { basename, dirname, isAbsolute, join } from "node:path";

/** Returns whether an error was found at a JSON pointer or below it. */
export type HasError = (pointer: string) => boolean;

/** What must be checked besides the schema. The value has the type of the schema except where `hasError` is true. */
export type RuleErrors = (value: unknown, hasError: HasError) => readonly FaultItem[];

/**
 * Reads a manifest and checks everything that can be checked without opening a map.
 * @throws Fault `invalid_request` with one item for each error, each with its JSON pointer
 */
export async function readManifestFile(
  path: string,
  { schema, ruleErrors }: { readonly schema: ValueSchema; readonly ruleErrors: RuleErrors },
): Promise<unknown> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Fault("invalid_request", `${path}: cannot be read as a JSON manifest (${why}).`, { cause: error });
  }
  const schemaErrors = findSchemaErrors(schema, value, { name: "The manifest" });
  const pointers = schemaErrors.map(({ pointer }) => pointer);
  const hasError: HasError = (parent) =>
    pointers.some((pointer) => pointer === parent || pointer.startsWith(`${parent}/`));
  throwManifestErrors(path, [...schemaErrors, ...(pointers.includes("") ? [] : ruleErrors(value, hasError))]);
  return value;
}

/** @throws Fault `invalid_request` if there are errors */
export function throwManifestErrors(path: string, items: readonly FaultItem[]): void {
  const [first] = items;
  if (first === undefined) return;
  const { pointer } = first;
  const what =
    items.length === 1
      ? `the manifest has an error at ${pointer === undefined || pointer === "" ? "its root" : pointer}: ${first.detail}`
      : `the manifest has ${items.length} errors.`;
  throw new Fault("invalid_request", `${path}: ${what}`, {
    details: { file: path },
    items: items.slice(0, FAULT_ITEM_COUNT_MAX),
  });
}

/**
 * Returns the manifest that is the only source of a recipe.
 * @throws Fault `invalid_request` if there is not exactly one source
 */
export function onlyManifest(sources: readonly string[]): string {
  const [path, ...others] = sources;
  if (path !== undefined && others.length === 0) return path;
  throw new Fault("invalid_request", `sources must be one JSON manifest (got ${sources.length} sources).`);
}

/** Returns an error of a manifest. */
export function manifestError(
  pointer: string,
  code: FaultItem["code"],
  detail: string,
  allowed?: readonly (string | number)[],
): FaultItem {
  return { pointer, code, detail, ...(allowed === undefined ? {} : { allowed }) };
}

/** Returns errors of a scenario and a year that the hazard does not have. */
export function scenarioYearErrors(
  spec: HazardSpec,
  { scenario, year }: { readonly scenario: Scenario; readonly year: number },
  { pointer, hasError }: { readonly pointer: string; readonly hasError: HasError },
): readonly FaultItem[] {
  const items: FaultItem[] = [];
  const [hasScenario, hasYear] = [!hasError(`${pointer}/scenario`), !hasError(`${pointer}/year`)];
  if (hasScenario && !spec.scenarios.includes(scenario)) {
    const detail = `${spec.hazard} has no scenario ${scenario}.`;
    items.push(manifestError(`${pointer}/scenario`, "not_allowed", detail, spec.scenarios));
  }
  if (hasYear && !spec.years.includes(year)) {
    const detail = `${spec.hazard} has no year ${year}.`;
    items.push(manifestError(`${pointer}/year`, "not_allowed", detail, spec.years));
  } else if (hasScenario && hasYear && (scenario === BASELINE.scenario) !== (year === BASELINE.year)) {
    const detail = `the baseline is the year ${BASELINE.year}, and no other scenario has that year.`;
    items.push(manifestError(`${pointer}/year`, "combination_unavailable", detail));
  }
  return items;
}

/** Returns errors of groups with the same scenario and year as an earlier one. */
export function groupKeyErrors(
  groups: readonly { readonly scenario: Scenario; readonly year: number }[],
  hasError: HasError,
): readonly FaultItem[] {
  const taken = new Map<string, string>();
  return groups.flatMap((group, index) => {
    const pointer = `/groups/${index}`;
    if (typeof group !== "object" || group === null) return [];
    if (hasError(`${pointer}/scenario`) || hasError(`${pointer}/year`)) return [];
    const key = `${group.scenario} ${group.year}`;
    const other = taken.get(key);
    taken.set(key, other ?? pointer);
    return other === undefined ? [] : [manifestError(pointer, "duplicate", `${key} is also described by ${other}.`)];
  });
}

/** The product of a manifest. */
export interface ManifestSource {
  readonly name: string;
  readonly licence: string;
  readonly version?: string;
  readonly url?: string;
  readonly credit?: string;
}

/** Returns the provenance that a manifest states about its product. */
export function sourceProvenance(
  recipe: string,
  { name, licence, version, url, credit }: ManifestSource,
): Readonly<Record<string, unknown>> {
  return {
    recipe,
    product: name,
    ...(version === undefined ? {} : { version }),
    ...(credit === undefined ? {} : { credit }),
    ...(url === undefined ? {} : { url }),
    licence,
  };
}

/** Adds the options of a manifest to those of the command; the latter take precedence. */
export function withManifestOptions(
  {
    assume_wgs84: assumeWgs84,
    keep_meridian: keepMeridian,
  }: { assume_wgs84?: boolean; keep_meridian?: "west" | "east" } = {},
  options: RasterOptions,
): RasterOptions {
  return {
    ...(keepMeridian === undefined ? {} : { keepMeridian }),
    ...options,
    ...(assumeWgs84 === true ? { assumeWgs84 } : {}),
  };
}

const isRemote = (file: string): boolean => /^https?:\/\//.test(file);

/** Returns a path that is relative to the folder of a manifest. Addresses and absolute paths are returned as they are. */
export function pathFrom(manifestPath: string, file: string): string {
  return isRemote(file) || isAbsolute(file) ? file : join(dirname(manifestPath), file);
}

/**
 * Returns the files that a list of paths and patterns names, in the order of the list; the files that match a pattern are in
 * the order of their names. `*` and `?` in the last part of a path match any characters, and one character.
 *
 * @param pointer JSON pointer of the list, for errors
 */
export async function filesOfLayer(
  manifestPath: string,
  given: string | readonly string[],
  pointer: string,
): Promise<{ readonly files: readonly string[]; readonly items: readonly FaultItem[] }> {
  const files = new Set<string>();
  const items: FaultItem[] = [];
  for (const [index, text] of (typeof given === "string" ? [given] : given).entries()) {
    const at = typeof given === "string" ? pointer : `${pointer}/${index}`;
    const add = (file: string): void => {
      if (files.has(file)) items.push({ pointer: at, code: "duplicate", detail: `${file} is listed more than once.` });
      files.add(file);
    };
    if (isRemote(text) || !/[*?]/.test(text)) {
      add(pathFrom(manifestPath, text));
      continue;
    }
    const folder = dirname(pathFrom(manifestPath, text));
    if (/[*?]/.test(dirname(text))) {
      const detail = `${text} has a pattern in the name of a folder; * and ? are accepted in the last part of a path.`;
      items.push({ pointer: at, code: "not_allowed", detail });
      continue;
    }
    const pattern = patternOf(basename(text));
    try {
      const names = (await readdir(folder)).filter((name) => pattern.test(name)).toSorted();
      if (names.length === 0)
        items.push({ pointer: at, code: "empty", detail: `No file in ${folder} matches ${text}.` });
      for (const name of names) add(join(folder, name));
    } catch (error) {
      items.push({ pointer: at, code: "not_allowed", detail: `${folder} cannot be listed (${messageOf(error)}).` });
    }
  }
  return { files: [...files], items };
}

function patternOf(name: string): RegExp {
  const escaped = name.replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^${escaped.replaceAll("*", ".*").replaceAll("?", ".")}$`, "s");
}
