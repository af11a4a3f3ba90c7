/** Assumptions of the climate-risk view: defaults with their sources and quality marks, as in docs/methods/company.md. */
import type { CompanyAssumptions, QualityMark } from "../../contract/wireTypes.ts";

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

export interface AssumptionNote {
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
