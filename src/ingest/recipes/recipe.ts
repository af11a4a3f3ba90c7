/** The interface of recipes, which turn the files of public products into layers. */
import type { HazardName, Scenario } from "../../hazard/hazards.ts";
import type { ValueSchema } from "../../validation/schemaErrors.ts";
import type { HazardPlan, IgnoredFile } from "../plan.ts";
import type { MosaicOrder, Raster, RasterOptions } from "../raster.ts";
import type { ArrayFile } from "../readers/arrays/arrayFile.ts";
import { Fault, FAULT_ITEM_COUNT_MAX, type FaultItem } from "../../errors.ts";

/** Opens the maps of an ingest. The maps stay open until it ends. */
export interface MapOpener {
  open(file: string, options: RasterOptions): Promise<Raster>;
  /** Opens several maps as one. */
  openMosaic(files: readonly string[], options: RasterOptions, order: MosaicOrder): Promise<Raster>;
  /** Opens a NetCDF, HDF5 or Zarr file for a recipe that needs variables and coordinates before it selects maps. */
  openArrays(file: string): Promise<ArrayFile>;
}

/** The maps that a recipe found among its sources. No map has been opened. */
interface FoundMaps {
  /** Files that the recipe does not use, each with the reason. */
  readonly ignoredFiles: readonly IgnoredFile[];
  /** Names of files that the product has and that are not among the sources, such as other return periods. */
  readonly missingFiles?: readonly string[];
  /** Opens the maps and plans the layers to write. */
  plan(maps: MapOpener, options: RasterOptions): Promise<readonly HazardPlan[]>;
}

/** The members that the options of every recipe have. */
export interface RecipeSources {
  /** Files, folders (searched recursively), zip archives or, for GeoTIFF files, http(s) addresses. */
  readonly sources: readonly string[];
}

/**
 * An option of one recipe, such as the elevation model. Its flag on the command line is the name in kebab case.
 *
 * A `flag` is true if it is given. `numbers` and `list` are lists of numbers and texts, `pairs` is an object with texts; on the
 * command line they are separated by commas and may be given several times, pairs as `key=value`.
 */
export interface RecipeOption {
  /** Member of the library's options: `elevationModel`. */
  readonly name: string;
  readonly kind: "flag" | "text" | "number" | "numbers" | "list" | "pairs";
  /** Placeholder of the value in help, such as `name`. */
  readonly value?: string;
  readonly description: string;
  /** The values that a text, or each text of a list, may have. */
  readonly choices?: readonly string[];
}

/** A recipe: how the files of a public product become layers of an atlas. */
export interface Recipe<Choices extends RecipeSources = RecipeSources> {
  /** As on the command line and in the provenance: `jrc-floods`. */
  readonly name: string;
  /** The hazard of the maps, onto whose grid in the atlas mosaics are placed; undefined if there are several. */
  readonly hazard?: HazardName;
  /** One line for the list of commands. */
  readonly summary: string;
  /** The argument of the command line, if the only source is a manifest. */
  readonly manifestArgument?: string;
  /** Help below the options: what is used, what is left out, and an example. */
  readonly help: string;
  /** The recipe's own options, in addition to `sources` and those of every ingest. All are optional. */
  readonly options: readonly RecipeOption[];
  /**
   * Finds the maps of the product by their names. Names and types of the choices have been checked.
   * @throws Fault `source_invalid` naming files that are missing, repeated or unknown; `invalid_request` for options
   */
  find(choices: Choices): Promise<FoundMaps>;
}

/** Returns the schemas of a recipe's options in the library, by name. */
export function optionSchemas({ options }: Pick<Recipe, "options">): Readonly<Record<string, ValueSchema>> {
  return Object.fromEntries(options.map((option) => [option.name, schemaOf(option)]));
}

function schemaOf({ kind, choices }: RecipeOption): ValueSchema {
  const text: ValueSchema = choices === undefined ? { type: "string" } : { enum: choices };
  if (kind === "flag") return { type: "boolean" };
  if (kind === "text") return text;
  if (kind === "number") return { type: "number" };
  if (kind === "numbers") return { type: "array", items: { type: "number" } };
  return kind === "list" ? { type: "array", items: text } : { type: "object" };
}

/** Scenarios of a product, each with the scenario that it is used for: `{ "ssp585": "rcp8p5" }`. */
export type ScenarioMapping = Readonly<Record<string, string>>;

/** The scenarios of ours that each scenario of a product may be used for. */
export type AcceptedMappings = Readonly<Record<string, readonly Scenario[]>>;

/** The SSP scenarios, each with the RCP of the same radiative forcing; undefined if there is none among our scenarios. */
const SSP_SCENARIOS = {
  ssp119: { title: "SSP1-1.9", rcp: undefined },
  ssp126: { title: "SSP1-2.6", rcp: "rcp2p6" },
  ssp245: { title: "SSP2-4.5", rcp: "rcp4p5" },
  ssp370: { title: "SSP3-7.0", rcp: undefined },
  ssp460: { title: "SSP4-6.0", rcp: "rcp6p0" },
  ssp534: { title: "SSP5-3.4", rcp: undefined },
  ssp585: { title: "SSP5-8.5", rcp: "rcp8p5" },
} as const;

export type SspScenario = keyof typeof SSP_SCENARIOS;

/** The option of recipes of products with other scenarios than ours. */
export const MAP_SCENARIO_OPTION: RecipeOption = {
  name: "mapScenario",
  kind: "pairs",
  value: "theirs=ours",
  description: "use a scenario of the product for one of ours, such as ssp585=rcp8p5; recorded as proxy_of",
};

/** Returns the mappings of SSP scenarios, each only to the RCP of the same forcing. */
export function sspMappings(scenarios: readonly SspScenario[]): AcceptedMappings {
  return Object.fromEntries(
    scenarios.map((scenario) => {
      const { rcp } = SSP_SCENARIOS[scenario];
      return [scenario, rcp === undefined ? [] : [rcp]];
    }),
  );
}

/** Returns the title of an SSP scenario, such as SSP5-8.5; other names are returned as they are. */
function titleOfScenario(name: string): string {
  return isSsp(name) ? SSP_SCENARIOS[name].title : name;
}

function isSsp(name: string): name is SspScenario {
  return Object.hasOwn(SSP_SCENARIOS, name);
}

/**
 * Checks a mapping that a user declares.
 *
 * @param product name of the product in messages
 * @param accepted the scenarios of the product, with those of ours that each may be used for
 * @returns our scenarios, by the scenarios of the product
 * @throws Fault `invalid_request` with one item for each pair that is not accepted
 */
export function checkScenarioMapping(
  mapping: ScenarioMapping | undefined,
  { product, accepted }: { readonly product: string; readonly accepted: AcceptedMappings },
): ReadonlyMap<string, Scenario> {
  const items: FaultItem[] = [];
  const checked = new Map<string, Scenario>();
  for (const [given, ours] of Object.entries(mapping ?? {})) {
    const theirs = normalizedName(given);
    const reject = (why: string, allowed: readonly string[]): void => {
      const detail = `${given}=${ours}: ${why}`;
      items.push({ pointer: `/mapScenario/${given}`, code: "not_allowed", detail, allowed });
    };
    const targets = Object.hasOwn(accepted, theirs) ? (accepted[theirs] ?? []) : undefined;
    const target = targets?.find((scenario) => scenario === ours);
    if (targets === undefined || targets.length === 0) {
      const names = Object.keys(accepted).filter((name) => accepted[name]?.length !== 0);
      reject(`${unmappedReason(theirs, product)} Accepted are ${names.join(", ")}.`, names);
    } else if (target === undefined) {
      reject(`${titleOfScenario(theirs)} may be used only for ${targets.join(" or ")}.`, targets);
    } else {
      const other = [...checked].find(([, scenario]) => scenario === target);
      if (other !== undefined) reject(`${target} is already mapped from ${other[0]}.`, []);
      checked.set(theirs, target);
    }
  }
  const [first] = items;
  if (first === undefined) return checked;
  const message = items.length === 1 ? first.detail : `${items.length} scenario mappings are not accepted.`;
  throw new Fault("invalid_request", message, { items: items.slice(0, FAULT_ITEM_COUNT_MAX) });
}

/** Returns the name of a scenario in lower case, with SSPs written as `ssp585`. */
function normalizedName(text: string): string {
  const name = text.toLowerCase();
  return name.startsWith("ssp") ? name.replaceAll(/[-_. ]/g, "") : name;
}

function unmappedReason(theirs: string, product: string): string {
  if (!isSsp(theirs)) return `${product} has no scenario ${theirs}.`;
  const { title, rcp } = SSP_SCENARIOS[theirs];
  return rcp === undefined ? `there is no RCP scenario with the forcing of ${title}.` : `${product} has no ${title}.`;
}

/** Returns why files of a scenario are ignored that no mapping names. */
export function unmappedFileReason(theirs: string, accepted: AcceptedMappings): string {
  const targets = accepted[theirs] ?? [];
  if (targets.length === 0) return `there is no RCP scenario with the forcing of ${titleOfScenario(theirs)}`;
  const example = `--map-scenario ${theirs}=${targets[0]}`;
  return `${titleOfScenario(theirs)} is used only on request, such as ${example}`;
}
