import { readFile } from "node:fs/promises";
import { isHazardName, type HazardName } from "../../hazard/hazards.ts";
import { Fault } from "../../errors.ts";
import { isNotFound } from "../../files/files.ts";
import type { PlaceColumnNames } from "./scoreRows.ts";

/** What the manifest of an output states about the run that wrote it. */
export interface StatedRun {
  readonly inputFile: string;
  readonly inputSha256: string;
  /** As in a file of options. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Undefined if it is not stated; the extension then determines it. */
  readonly outputFormat: string | undefined;
  readonly release: string;
  readonly contentHash: string;
  /** Whether the values are invented, as those of the demo. */
  readonly isSynthetic: boolean;
  readonly programVersion: string;
  /** Rules of the atlas by hazard. */
  readonly rules: Readonly<Partial<Record<HazardName, Readonly<Record<string, unknown>>>>>;
  /** Sources of the layers, each once. */
  readonly sources: readonly StatedSource[];
  /** Names of the groups, such as `riverine_floods.rcp8p5.2050`. */
  readonly groups: ReadonlySet<string>;
  /** Names of the columns of the output; empty if they are not stated. */
  readonly columnNames: readonly string[];
  /** Columns that identify and locate the places; undefined if an earlier version wrote the output. */
  readonly placeColumns: StatedColumns | undefined;
  /** Rows and size of the output. */
  readonly rowCount: number;
  readonly sizeBytes: number;
}

type StatedColumns = Pick<PlaceColumnNames, "id" | "latitude" | "longitude">;

interface StatedSource {
  readonly name: string;
  readonly license: string | undefined;
  readonly credit: string | undefined;
  readonly hazards: readonly HazardName[];
}

type Members = Readonly<Record<string, unknown>>;

/**
 * Reads the manifest of an output.
 * @returns undefined if there is none
 * @throws Fault `invalid_request` if the file of that name is not a manifest
 */
export async function readStatedRun(outputPath: string): Promise<StatedRun | undefined> {
  const path = `${outputPath}.manifest.json`;
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
  try {
    return parseStatedRun(JSON.parse(text));
  } catch (cause) {
    const message = `${path} is not the manifest of an output of isotherm portfolio. Remove it to summarize without it.`;
    throw new Fault("invalid_request", message, { cause });
  }
}

/** @throws TypeError if the value is not a manifest */
function parseStatedRun(manifest: unknown): StatedRun {
  const { isotherm_portfolio_manifest: format, ...members } = membersOf(manifest);
  if (format !== 1) throw new TypeError("the manifest has another format");
  const [input, atlas, output] = [
    membersOf(members["input"]),
    membersOf(members["atlas"]),
    membersOf(members["output"]),
  ];
  const hazards = listOf(members["hazards"]).flatMap((entry) => {
    const { hazard, rules, sources } = membersOf(entry);
    return typeof hazard === "string" && isHazardName(hazard)
      ? [{ hazard, rules: membersOf(rules), sources: listOf(sources) }]
      : [];
  });
  return {
    inputFile: textOf(input["name"]),
    inputSha256: textOf(input["sha256"]),
    options: membersOf(members["options"]),
    outputFormat: members["output_format"] === undefined ? undefined : textOf(members["output_format"]),
    release: textOf(atlas["release"]),
    contentHash: textOf(atlas["content_hash"]),
    isSynthetic: members["synthetic"] === true,
    programVersion: textOf(members["program_version"]),
    rules: Object.fromEntries(hazards.map(({ hazard, rules }) => [hazard, rules])),
    sources: distinctSources(hazards),
    groups: new Set(
      listOf(members["groups"]).map((entry) => {
        const { hazard, scenario, analysisYear } = membersOf(entry);
        return `${String(hazard)}.${String(scenario)}.${String(analysisYear)}`;
      }),
    ),
    columnNames: listOf(members["columns"] ?? []).map((column) => textOf(membersOf(column)["name"])),
    placeColumns: members["place_columns"] === undefined ? undefined : columnNamesOf(members["place_columns"]),
    rowCount: Number(output["row_count"]),
    sizeBytes: Number(output["size_bytes"]),
  };
}

function columnNamesOf(value: unknown): StatedColumns {
  const members = membersOf(value);
  const nameOf = (name: unknown) => (name === null ? undefined : textOf(name));
  return {
    id: nameOf(members["id"]),
    latitude: nameOf(members["latitude"]),
    longitude: nameOf(members["longitude"]),
  };
}

/** Merges the sources that differ only in their layers. */
function distinctSources(
  hazards: readonly { readonly hazard: HazardName; readonly sources: readonly unknown[] }[],
): readonly StatedSource[] {
  const sources = new Map<string, Omit<StatedSource, "hazards"> & { readonly hazards: Set<HazardName> }>();
  for (const { hazard, sources: stated } of hazards) {
    for (const source of stated) {
      const { product, version, description, licence: license, credit } = membersOf(source);
      const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
      const name = [text(product) ?? text(description) ?? "not stated", text(version)].filter(
        (part) => part !== undefined,
      );
      const entry = { name: name.join(", version "), license: text(license), credit: text(credit) };
      const key = JSON.stringify(entry);
      const known = sources.get(key) ?? { ...entry, hazards: new Set<HazardName>() };
      known.hazards.add(hazard);
      sources.set(key, known);
    }
  }
  return [...sources.values()].map((source) => ({ ...source, hazards: [...source.hazards] }));
}

function membersOf(value: unknown): Members {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new TypeError("an object is missing");
  return value as Members;
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new TypeError("an array is missing");
  return value;
}

function textOf(value: unknown): string {
  if (typeof value !== "string") throw new TypeError("a text is missing");
  return value;
}
