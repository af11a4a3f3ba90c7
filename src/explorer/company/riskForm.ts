/**
 * The form of the climate-risk view, and the request of a form. The assumptions have the defaults, sources and quality marks of
 * docs/methods/company.md.
 */
import { DAMAGE_FUNCTIONS, PRICE_MODEL_IDS } from "../../contract/names.ts";
import type { CompanyAssumptions, CompanyRequest, ProblemItem, QualityMark } from "../../contract/wireTypes.ts";
import { encodeForm, FormReader, parseNumberText, quoteText, withoutBlanks } from "./formText.ts";

/** Amounts of the request. The API takes them as text, so they are sent as typed. */
const FIGURE_NAMES = [
  "revenue",
  "total_assets",
  "ebitda",
  "total_debt",
  "total_liabilities",
  "exposure",
  "pd",
] as const;
export const EMISSION_NAMES = ["scope1", "scope2", "scope3", "scope3_upstream", "scope3_downstream"] as const;
/** Members of `assumptions` in the request. */
export const ASSUMPTION_NAMES = ["discount_rate", "shock_year", "pass_through"] as const;

export type FigureName = (typeof FIGURE_NAMES)[number];
export type EmissionName = (typeof EMISSION_NAMES)[number];
type AssumptionName = (typeof ASSUMPTION_NAMES)[number];
type AmountName = FigureName | EmissionName | AssumptionName | "lgd";

const TEXT_NAMES = ["name", "country", "industry"] as const;
const AMOUNT_NAMES: readonly AmountName[] = [...FIGURE_NAMES, ...EMISSION_NAMES, ...ASSUMPTION_NAMES, "lgd"];

/** The form as typed. Blank texts are absent from the request, and the method estimates or assumes the value. */
export interface RiskForm extends Readonly<Record<AmountName | (typeof TEXT_NAMES)[number], string>> {
  readonly scenarios: readonly string[];
  /** Years separated by commas or spaces. */
  readonly years: string;
  /** Blank for the default. */
  readonly damageFunction: (typeof DAMAGE_FUNCTIONS)[number] | "";
  readonly iam: (typeof PRICE_MODEL_IDS)[number] | "";
}

const NO_AMOUNTS = Object.fromEntries(AMOUNT_NAMES.map((name) => [name, ""])) as Record<AmountName, string>;

/** A company that does not exist. */
export const EXAMPLE_RISK: RiskForm = {
  ...NO_AMOUNTS,
  name: "Example Paper plc",
  country: "Germany",
  industry: "Pulp and paper",
  revenue: "5000000000",
  total_assets: "5500000000",
  ebitda: "700000000",
  scenarios: ["NGFS_NET_ZERO_2050", "NGFS_DELAYED_TRANSITION", "NGFS_CURRENT_POLICIES"],
  years: "2030, 2040, 2050",
  damageFunction: "",
  iam: "",
};

type RiskCall =
  | { readonly request: CompanyRequest; readonly items?: never }
  /** Years that are not numbers. */
  | { readonly items: readonly ProblemItem[]; readonly request?: never };

/** Returns the request of a form. Everything but the list of years is checked by the API. */
export function riskCallOf(form: RiskForm): RiskCall {
  const years: number[] = [];
  const faulty: string[] = [];
  for (const text of form.years.split(/[\s,;]+/).filter((part) => part !== "")) {
    const year = parseNumberText(text);
    if (year === undefined) faulty.push(text);
    else years.push(year);
  }
  if (faulty.length > 0) {
    const detail = `assessment_years must be years separated by commas, such as 2030, 2050 (got ${faulty.map(quoteText).join(", ")}).`;
    return { items: [{ pointer: "/assessment_years", code: "wrong_type", detail }] };
  }
  const texts = (names: readonly (AmountName | (typeof TEXT_NAMES)[number])[]) =>
    withoutBlanks(Object.fromEntries(names.map((name) => [name, form[name].trim()])));
  const assumptions = texts(ASSUMPTION_NAMES);
  const request = {
    ...texts(TEXT_NAMES),
    ...texts(FIGURE_NAMES),
    transition_scenarios: form.scenarios,
    assessment_years: years,
    ...texts(EMISSION_NAMES),
    ...withoutBlanks({ damage_function: form.damageFunction, iam: form.iam }),
    ...texts(["lgd"]),
    ...(Object.keys(assumptions).length === 0 ? {} : { assumptions }),
  };
  // The API checks the shape: blank members are absent, also those that it requires.
  return { request: request as unknown as CompanyRequest };
}

/** Returns the form as text for the permalink; undefined for the example. */
export function encodeRiskForm(form: RiskForm): string | undefined {
  const text = encodeForm({ ...form });
  return text === encodeForm({ ...EXAMPLE_RISK }) ? undefined : text;
}

/** Reads the text of a permalink. Returns undefined if it is not such a text. */
export function decodeRiskForm(text: string): RiskForm | undefined {
  const reader = FormReader.parse(text);
  const scenarios = reader?.texts("scenarios");
  if (reader === undefined || scenarios === undefined) return undefined;
  const names = [...TEXT_NAMES, ...AMOUNT_NAMES];
  return {
    ...(Object.fromEntries(names.map((name) => [name, reader.text(name)])) as Pick<RiskForm, (typeof names)[number]>),
    scenarios,
    years: reader.text("years"),
    damageFunction: reader.choice("damageFunction", ["", ...DAMAGE_FUNCTIONS], ""),
    iam: reader.choice("iam", ["", ...PRICE_MODEL_IDS], ""),
  };
}

const MARK_MEANINGS: Readonly<Record<QualityMark, string>> = {
  P: "published, and checked against the publication",
  M: "published, and quoted from memory",
  D: "derived from listed data",
  J: "judgment of this project",
  reported: "given by you, not verified",
};

/** Returns the meaning of a mark. Newer services can have other marks. */
export function markMeaning(mark: string): string {
  return Object.hasOwn(MARK_MEANINGS, mark) ? MARK_MEANINGS[mark as QualityMark] : "unknown mark";
}

interface AssumptionNote {
  readonly label: string;
  readonly unit: string;
  readonly source: string;
  readonly mark: QualityMark;
}

/** Members of `assumptions` in the response, in the order of the form. */
export const ASSUMPTION_NOTES: Readonly<Record<keyof CompanyAssumptions, AssumptionNote>> = {
  discount_rate: {
    label: "Discount rate",
    unit: "Real rate as a fraction, 0 to 0.3",
    source: "TRISK uses 9 % nominal with 3 % growth",
    mark: "J",
  },
  shock_year: {
    label: "First year of the carbon price shock",
    unit: "Year, 2025 to 2100",
    source: "prices of the scenario apply from the base year on",
    mark: "J",
  },
  pass_through: {
    label: "Pass-through",
    unit: "Share of costs passed on to prices, 0 to 1",
    source: "by industry and year, after CE Delft 2015, Ganapati et al. 2020, TRISK and others",
    mark: "J",
  },
  lgd: {
    label: "Loss given default",
    unit: "Fraction, 0 to 1",
    source: "senior unsecured loans, Basel foundation approach",
    mark: "M",
  },
  damage_function: {
    label: "Damage function",
    unit: "Loss of output by warming",
    source: "Kalkuhl and Wenz 2020, scaled to the level of NGFS Phase IV",
    mark: "D",
  },
  iam: {
    label: "Model of carbon prices",
    unit: "For scenarios of the NGFS",
    source: "NGFS Phase V, REMIND-MAgPIE 3.3-4.8",
    mark: "P",
  },
};
