/** Classification systems of industries, as `industry_classification_system` and the text of a code name them. */

import { CODE_SYSTEMS } from "../contract/names.ts";

/** A system whose codes are matched. */
export type CodeSystem = (typeof CODE_SYSTEMS)[number];

/** Systems that a request can name. Only the codes of CODE_SYSTEMS are in the tables. */
export const CLASSIFICATION_SYSTEMS = [
  "gics",
  "nace",
  "naics",
  "isic",
  "sics",
  "trbc",
  "icb",
  "factset",
  "custom",
] as const;
export type ClassificationSystem = (typeof CLASSIFICATION_SYSTEMS)[number];

/** The editions whose codes the tables have. */
const EDITIONS: Readonly<Record<CodeSystem, { readonly title: string; readonly accepted: RegExp }>> = {
  isic: { title: "ISIC Rev. 4", accepted: /^(r(ev(ision)?)?)?4$/ },
  nace: { title: "NACE Rev. 2", accepted: /^(r(ev(ision)?)?)?2$/ },
  naics: { title: "NAICS 2017", accepted: /^2017$/ },
};

export const ACCEPTED_CODES = "codes of ISIC Rev. 4, NACE Rev. 2 and NAICS 2017";

/** What the name of a system means. */
export type SystemMatch =
  | { readonly kind: "found"; readonly system: ClassificationSystem }
  /** A system of codes in an edition that the tables do not have. */
  | { readonly kind: "other_edition"; readonly system: CodeSystem }
  | { readonly kind: "unknown" };

/** Reads the name of a system with or without its edition: `NACE`, `nace rev. 2`, `ISIC4`, `NAICS 2017`. */
export function readSystem(text: string): SystemMatch {
  const [, name = "", edition = ""] = /^([a-z]+)(.*)$/.exec(text.toLowerCase().replaceAll(/[^a-z0-9.]+/g, "")) ?? [];
  // Without spaces, "NACE Rev. 2" is "nacerev.2": the letters of the edition follow those of the name.
  const system = CLASSIFICATION_SYSTEMS.find((known) => name.startsWith(known));
  if (system === undefined) return { kind: "unknown" };
  const rest = `${name.slice(system.length)}${edition}`.replace(/^(r[a-z]*)\./, "$1");
  if (rest === "") return { kind: "found", system };
  const coded = CODE_SYSTEMS.find((known) => known === system);
  if (coded === undefined || !/^(r(ev(ision)?)?|v)?\d/.test(rest)) return { kind: "unknown" };
  return EDITIONS[coded].accepted.test(rest) ? { kind: "found", system } : { kind: "other_edition", system: coded };
}

/** Returns the name of a system with the edition of the tables, such as `NACE Rev. 2`. */
export function systemTitle(system: ClassificationSystem): string {
  const coded = CODE_SYSTEMS.find((known) => known === system);
  if (coded !== undefined) return EDITIONS[coded].title;
  return system === "factset" ? "FactSet" : system === "custom" ? "a custom system" : system.toUpperCase();
}
