/** The interface of recipes, which turn the files of public products into layers. */
import type { HazardName } from "../../hazard/hazards.ts";
import type { ValueSchema } from "../../validation/schemaErrors.ts";
import type { HazardPlan, IgnoredFile } from "../plan.ts";
import type { MosaicOrder, Raster, RasterOptions } from "../raster.ts";
import type { ArrayFile } from "../readers/arrays/arrayFile.ts";

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
