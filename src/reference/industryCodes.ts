/** Classification systems of industries, as `industry_classification_system` and the text of a code name them. */
import { CODE_SYSTEMS } from "../contract/names.ts";
import { INDUSTRY_CLASS_ROWS, type IndustryClassRow } from "./data/industryClasses.generated.ts";

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
type SystemMatch =
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
function systemTitle(system: ClassificationSystem): string {
  const coded = CODE_SYSTEMS.find((known) => known === system);
  if (coded !== undefined) return EDITIONS[coded].title;
  return system === "factset" ? "FactSet" : system === "custom" ? "a custom system" : system.toUpperCase();
}

const CODE_LENGTH_MAX: Readonly<Record<CodeSystem, number>> = { isic: 4, nace: 4, naics: 6 };

type CodeMatch =
  | {
      readonly kind: "found";
      readonly system: CodeSystem;
      /** Ids of the industries of the classes that the code covers. */
      readonly industryIds: readonly string[];
      /** Every class that the code covers belongs to one or more of these industries; false if some belong to none. */
      readonly isComplete: boolean;
    }
  /** The text has the form of a code, but is not accepted; `reason` completes a sentence that begins with the text. */
  | { readonly kind: "rejected"; readonly reason: string }
  | { readonly kind: "not_a_code" };

const NOT_A_CODE: CodeMatch = { kind: "not_a_code" };

/**
 * Name and edition of a system, section letter, digits with an optional point: `ISIC 2410`, `NACE Rev. 2 C24.1`,
 * `24.10`, `naics:331110`, `GICS 15104050`.
 */
const CODE =
  /^(?:(isic|nace|naics|gics|sics|trbc|icb|factset|custom)([ _(]*(?:r(?:ev(?:ision)?)?[. ]*\d(?:\.\d)?|v?(?:19|20)\d\d|\d(?:\.\d)?)(?=[ :,)_-]))?[ :,)_-]*)?([a-z][ .]?)?([0-9]{2}\.[0-9]{1,2}|[0-9]{2,12})$/i;

/** First and last division of each section; they are the same in ISIC Rev. 4 and NACE Rev. 2. */
const SECTION_DIVISIONS: Readonly<Record<string, readonly [first: number, last: number]>> = {
  A: [1, 3],
  B: [5, 9],
  C: [10, 33],
  D: [35, 35],
  E: [36, 39],
  F: [41, 43],
  G: [45, 47],
  H: [49, 53],
  I: [55, 56],
  J: [58, 63],
  K: [64, 66],
  L: [68, 68],
  M: [69, 75],
  N: [77, 82],
  O: [84, 84],
  P: [85, 85],
  Q: [86, 88],
  R: [90, 93],
  S: [94, 96],
  T: [97, 98],
  U: [99, 99],
};

/**
 * Returns the industries of a code. The system is the prefix of the text, else the stated one; digits with a point
 * (`24.10`) are NACE by themselves.
 */
export function matchCode(text: string, stated?: ClassificationSystem): CodeMatch {
  const [, prefix, edition = "", letter = "", code] = CODE.exec(text.trim()) ?? [];
  if (code === undefined) return NOT_A_CODE;
  const named = prefix === undefined ? undefined : readSystem(prefix + edition);
  if (named?.kind === "other_edition") {
    return rejected("is a code of an edition that is not supported");
  }
  const system = (named?.kind === "found" ? named.system : undefined) ?? stated ?? systemByForm(code);
  if (system === undefined) return rejected(reasonWithoutSystem(code));
  const coded = CODE_SYSTEMS.find((known) => known === system);
  if (coded === undefined) {
    return rejected(`is a code of ${systemTitle(system)}, whose codes are not part of the data`);
  }
  return matchCodeOf(coded, { section: letter.replaceAll(/[ .]/g, "").toUpperCase(), code });
}

function rejected(reason: string): CodeMatch {
  return { kind: "rejected", reason };
}

/** Only codes of NACE have a point. */
function systemByForm(code: string): CodeSystem | undefined {
  return code.includes(".") ? "nace" : undefined;
}

function reasonWithoutSystem(code: string): string {
  return code.length > Math.max(...Object.values(CODE_LENGTH_MAX))
    ? "is longer than any code that is matched"
    : "is a code without its system; write ISIC, NACE or NAICS before it, or send industry_classification_system";
}

interface CodeOfSystem {
  /** Empty if the code has none. */
  readonly section: string;
  readonly code: string;
}

function matchCodeOf(system: CodeSystem, { section, code }: CodeOfSystem): CodeMatch {
  const digits = code.replace(".", "");
  const title = systemTitle(system);
  if (digits.length > CODE_LENGTH_MAX[system]) {
    return rejected(`is longer than a code of ${title}, which has 2 to ${CODE_LENGTH_MAX[system]} digits`);
  }
  if (system === "naics" && (section !== "" || code.includes("."))) {
    return rejected(`is not a code of ${title}, which has 2 to 6 digits and neither letters nor points`);
  }
  const covered = classesByPrefix(system).get(digits);
  if (covered === undefined) return rejected(`is not a code of ${title}`);
  if (section !== "" && section !== sectionOf(digits)) {
    const division = `division ${digits.slice(0, 2)} of ${title}`;
    return rejected(`has the section ${section}, but ${division} is in section ${sectionOf(digits)}`);
  }
  const industryIds = [...new Set(covered.flatMap(({ industries }) => industries))];
  if (industryIds.length === 0) {
    return rejected(`is a code of ${title}, but the list of industries has none for it`);
  }
  return { kind: "found", system, industryIds, isComplete: covered.every(({ industries }) => industries.length > 0) };
}

/** Returns the section of a code of ISIC or NACE that has classes. */
function sectionOf(digits: string): string {
  const division = Number(digits.slice(0, 2));
  const section = Object.entries(SECTION_DIVISIONS).find(([, [first, last]]) => division >= first && division <= last);
  if (section === undefined) throw new Error(`The division ${division} has no section.`);
  return section[0];
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
