/** Codes of ISIC Rev. 4, NACE Rev. 2 and NAICS 2017. */
import { INDUSTRY_CLASS_ROWS, type IndustryClassRow } from "./data/industryClasses.generated.ts";

export const CODE_SYSTEMS = ["isic", "nace", "naics"] as const;
export type CodeSystem = (typeof CODE_SYSTEMS)[number];

const CODE_LENGTH_MAX: Readonly<Record<CodeSystem, number>> = { isic: 4, nace: 4, naics: 6 };

export interface CodeMatch {
  readonly system: CodeSystem;
  /** Ids of the industries of the classes that the code covers. */
  readonly industryIds: readonly string[];
  /** Every class that the code covers belongs to exactly these industries; false if some belong to none. */
  readonly isComplete: boolean;
}

/** Prefix, section letter, digits with an optional point: `ISIC 2410`, `NACE C24.1`, `24.10`, `naics:331110`. */
const CODE = /^(?:(isic|nace|naics)[ :-]*)?([a-u] ?\.?)?([0-9]{2}\.[0-9]{1,2}|[0-9]{2,6})$/i;

/** Returns whether a text has the form of a code, known or not. */
export function isCodeLike(text: string): boolean {
  return CODE.test(text.trim());
}

/**
 * Returns the industries of a code, or undefined if the text is not a code of a known class or its system is not known.
 * The system is the prefix of the text, else the stated one; digits with a point (`24.10`) are NACE by themselves.
 */
export function matchCode(text: string, statedSystem?: CodeSystem): CodeMatch | undefined {
  const [, prefix, section, code] = CODE.exec(text.trim()) ?? [];
  if (code === undefined) return undefined;
  const system = systemOf(prefix, code, statedSystem);
  if (system === undefined || (system === "naics" && (section !== undefined || code.includes(".")))) return undefined;
  const digits = code.replace(".", "");
  if (digits.length > CODE_LENGTH_MAX[system]) return undefined;
  const covered = classesByPrefix(system).get(digits) ?? [];
  const industryIds = [...new Set(covered.flatMap(({ industries }) => industries))];
  if (industryIds.length === 0) return undefined;
  return { system, industryIds, isComplete: covered.every(({ industries }) => industries.length > 0) };
}

function systemOf(prefix: string | undefined, code: string, stated: CodeSystem | undefined): CodeSystem | undefined {
  if (prefix !== undefined) return CODE_SYSTEMS.find((system) => system === prefix.toLowerCase());
  return stated ?? (code.includes(".") ? "nace" : undefined);
}

type ClassesByPrefix = ReadonlyMap<string, readonly IndustryClassRow[]>;
const prefixesBySystem = new Map<CodeSystem, ClassesByPrefix>();

/** Returns the classes by every prefix of their codes of at least two digits. */
function classesByPrefix(system: CodeSystem): ClassesByPrefix {
  const known = prefixesBySystem.get(system);
  if (known !== undefined) return known;
  const index = new Map<string, IndustryClassRow[]>();
  for (const row of INDUSTRY_CLASS_ROWS) {
    if (row.system !== system) continue;
    const digits = row.code.replace(".", "");
    for (let length = 2; length <= digits.length; length++) {
      const prefix = digits.slice(0, length);
      const classes = index.get(prefix) ?? [];
      classes.push(row);
      index.set(prefix, classes);
    }
  }
  prefixesBySystem.set(system, index);
  return index;
}
