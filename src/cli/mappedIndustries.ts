import type { Entity } from "../contract/wireTypes.ts";
import { Fault, isFault } from "../errors.ts";
import { type IndustryMap, mapIndustryText } from "../reference/industryMap.ts";
import { readIndustryMapFile } from "./industryMapFile.ts";

/** Reads the file of `--industry-map`, if there is one. @throws Fault with the name of the file and every error in it */
export async function openIndustryMap(path: string | undefined): Promise<IndustryMap | undefined> {
  if (path === undefined) return undefined;
  try {
    return await readIndustryMapFile(path);
  } catch (error) {
    if (!isFault(error) || error.code === "configuration_invalid") throw error;
    const { code, message, details, items } = error;
    throw new Fault(code, `${path}: ${message}`, { details, items, cause: error });
  }
}

/** Returns an entity with the names of the industries that a map has for its industry and sector texts. */
export function withMappedIndustry(map: IndustryMap, entity: unknown): unknown {
  const info =
    typeof entity === "object" && entity !== null && "entity_info" in entity ? entity.entity_info : undefined;
  // Entities have not been validated yet; validation reports values of the wrong type.
  if (typeof info !== "object" || info === null) return entity;
  const { industry, sector, industry_classification_system: system } = info as Partial<Entity["entity_info"]>;
  const mapped = (text: unknown): unknown =>
    typeof text === "string" ? mapIndustryText(map, text, typeof system === "string" ? system : undefined) : text;
  return {
    ...(entity as object),
    entity_info: {
      ...info,
      ...(industry === undefined ? {} : { industry: mapped(industry) }),
      ...(sector === undefined ? {} : { sector: mapped(sector) }),
    },
  };
}
