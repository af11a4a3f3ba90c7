import { isBankOrInsurer } from "./industryParameters.ts";
import type { Company, Emitter } from "./request.ts";
import type { DataQuality, QualityMark } from "../contract/wireTypes.ts";

/** The quality of a part of the answer, with a mark of this release. */
interface KnownQuality extends DataQuality {
  readonly mark: QualityMark;
}

/** PCAF data quality scores: 1 is verified, 5 estimated from revenue. Reported emissions cannot be verified here. */
export const PCAF_SCORE = { reported: 2, modelled: 5 } as const;

export function emissionsQuality({ industry: { industry }, reported }: Emitter): readonly KnownQuality[] {
  const asReported = (output: string): KnownQuality => ({
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
          detail: "sum as reported, split in the proportions of the model",
        },
    ...(industry.group === "banks"
      ? [
          {
            output: "emissions.financed",
            mark: "J",
            detail: "by total assets; share of loans and capital per output are assumed",
          } as const,
        ]
      : []),
  ];
}

export function companyQuality(company: Company): readonly KnownQuality[] {
  const isFinancial = isBankOrInsurer(company.industry.industry);
  return [
    ...emissionsQuality(company),
    {
      output: "transition",
      mark: "J",
      detail: "prices differ by a factor of 3 between models; pass-through, elasticity and abatement price are assumed",
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
    { output: "total, headline", mark: "J", detail: "the weakest of its parts; the rating bands are our own" },
    {
      output: "valuation, credit",
      mark: "J",
      detail: isFinancial
        ? "book values; read changes and their order, not levels. Total assets less losses, for a bank or insurer"
        : "book values and unlevered drift; read changes and their order, not levels",
    },
  ];
}

/** Assumptions of every answer. */
export const ASSUMPTIONS: readonly string[] = [
  "All money, including inputs, is in real US dollars of 2025; no currency is converted.",
  "Revenue, EBITDA and balance sheet stay constant (static balance sheet).",
  "One country and one industry represent the whole company.",
  "Losses only: no gains from low-carbon products or competitors' larger losses, and no adaptation or insurance.",
  "Physical risk is a national average, not site-specific; hail, thunderstorms, wildfire, drought and sea-level rise are not covered.",
  "Neither the NGFS nor the IPCC assigns probabilities to scenarios; the mean over scenarios is not an expected value.",
];
