import { isBankOrInsurer } from "./industryParameters.ts";
import type { Company, Emitter } from "./request.ts";

/**
 * How far a figure can be trusted, best first: published, and read in the document (P); published, and quoted from
 * memory (M); derived from listed data (D); our judgement (J).
 */
export type Mark = "P" | "M" | "D" | "J";

/** The weakest of what a part of the answer stands on, and what that is. */
export interface DataQuality {
  readonly output: string;
  /** `reported`: not ours to judge. */
  readonly mark: Mark | "reported";
  readonly detail: string;
}

/** PCAF's data quality score: 1 is verified, 5 an estimate by revenue. What is reported we cannot see verified. */
export const PCAF_SCORE = { reported: 2, modelled: 5 } as const;

export function emissionsQuality({ industry: { industry }, reported }: Emitter): readonly DataQuality[] {
  const asReported = (output: string): DataQuality => ({
    output,
    mark: "reported",
    detail: "as reported, not verified",
  });
  return [
    reported.scope1 === undefined
      ? {
          output: "emissions.scope1",
          mark: industry.isFactorJudged ? "J" : "D",
          detail: `by revenue; a factor of 2 either way. Factor: ${industry.factorSource}`,
        }
      : asReported("emissions.scope1"),
    reported.scope2 === undefined
      ? { output: "emissions.scope2", mark: "J", detail: "by revenue, grid and price level; a factor of 2 either way" }
      : asReported("emissions.scope2"),
    reported.scope3 === undefined
      ? {
          output: "emissions.scope3_upstream, scope3_downstream",
          mark: "J",
          detail: "by revenue; a factor of 3 either way, downstream an order of magnitude only",
        }
      : {
          output: "emissions.scope3_upstream, scope3_downstream",
          mark: "J",
          detail: "their sum as reported, divided as the model divides it",
        },
    ...(industry.group === "banks"
      ? [
          {
            output: "emissions.financed",
            mark: "J",
            detail: "by total assets: share of loans and capital per output are assumed",
          } as const,
        ]
      : []),
  ];
}

export function companyQuality(company: Company): readonly DataQuality[] {
  const isFinancial = isBankOrInsurer(company.industry.industry);
  return [
    ...emissionsQuality(company),
    {
      output: "transition",
      mark: "J",
      detail:
        "prices differ by a factor of 3 between models; pass-through, elasticity and price of abatement are assumed",
    },
    {
      output: "physical.chronic",
      mark: company.damageFunction === "ngfs5_kotz" ? "J" : "D",
      detail: "national mean; at the low end of the literature unless damage_function says otherwise",
    },
    {
      output: "physical.acute",
      mark: "J",
      detail: "national mean of the loss ratio; tangible share of assets assumed",
    },
    { output: "total, headline", mark: "J", detail: "the weakest of its parts; the bands of the rating are ours" },
    {
      output: "valuation, credit",
      mark: "J",
      detail: isFinancial
        ? "book values; read changes and their order, not levels. Total assets less losses, for a bank or insurer"
        : "book values and unlevered drift; read changes and their order, not levels",
    },
  ];
}

/** What every answer takes for granted. */
export const ASSUMPTIONS: readonly string[] = [
  "Money is real US dollars of 2025, inputs too; no currency is converted.",
  "Revenue, EBITDA and balance sheet stay as they are (a static balance sheet).",
  "One country and one industry stand for the whole company.",
  "Losses only: no gains from low-carbon products, from competitors that lose more, or from adaptation and insurance.",
  "Physical risk is a national average, not that of a site; storms of hail and thunder, wildfire, drought and the rising sea are not covered.",
  "Neither the NGFS nor the IPCC gives scenarios a probability, and the mean over them is none.",
];
