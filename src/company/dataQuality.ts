import type { DataQuality, EmissionsFigure, QualityMark } from "../contract/wireTypes.ts";
import type { CompanyEmissions } from "./emissions.ts";
import type { Industry } from "./industryParameters.ts";
import type { Company, Emitter } from "./request.ts";

/** The quality of a part of the answer, with a mark of this release. */
interface KnownQuality extends DataQuality {
  readonly mark: QualityMark;
}

const MODELED_DETAILS = {
  scope1: "by revenue, scaled from the US to the country",
  scope2: "by revenue, grid and price level",
  scope3: "by revenue; downstream an order of magnitude only",
};

export function emissionsQuality(
  { industry: { industry } }: Emitter,
  emissions: CompanyEmissions,
): readonly KnownQuality[] {
  const { scope1, scope2, scope3Upstream, scope3Downstream, financed } = emissions;
  return [
    qualityOf("emissions.scope1", scope1, { industry, modeled: MODELED_DETAILS.scope1 }),
    qualityOf("emissions.scope2", scope2, { industry, modeled: MODELED_DETAILS.scope2 }),
    qualityOf("emissions.scope3_upstream", scope3Upstream, { industry, modeled: MODELED_DETAILS.scope3 }),
    qualityOf("emissions.scope3_downstream", scope3Downstream, { industry, modeled: MODELED_DETAILS.scope3 }),
    ...(financed === null
      ? []
      : [
          {
            output: "emissions.financed",
            mark: "J",
            detail: "by total assets; share of loans and capital per output are assumed; a factor of 3 either way",
          } as const,
        ]),
  ];
}

function qualityOf(
  output: string,
  { method, value, high }: EmissionsFigure,
  of: { readonly industry: Industry; readonly modeled: string },
): KnownQuality {
  if (method === "reported") return { output, mark: "reported", detail: "as reported, not verified" };
  if (method === "split") return { output, mark: "J", detail: "part of a reported total, divided by the model" };
  const factor = value > 0 ? `; a factor of ${Number((high / value).toPrecision(3))} either way` : "";
  // Only the factors that were not moved are derived from listed data alone.
  const mark = of.industry.factorQuality === "table" && output !== "emissions.scope3_downstream" ? "D" : "J";
  return { output, mark, detail: `${of.modeled}${factor}. Factor: ${of.industry.factorSource}` };
}

export function companyQuality(company: Company, emissions: CompanyEmissions): readonly KnownQuality[] {
  const { damageFunction } = company.assumptions;
  return [
    ...emissionsQuality(company, emissions),
    {
      output: "company.figures.normalized_ebitda",
      mark: "J",
      detail: "normal margins are sector averages, quoted from memory; the floor at half of them is our judgment",
    },
    {
      output: "transition",
      mark: "J",
      detail:
        "prices differ by a factor of 3 between models; pass-through, elasticity, backstop prices and lives of capital are assumed",
    },
    {
      output: "physical.chronic",
      mark: "J",
      detail: `national mean with ${damageFunction}; the literature spans 1.5 to 15% of output in 2050; the share of labor cost that does not follow output is assumed`,
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
      detail: "book values and sector volatilities; read changes and their order, not levels",
    },
  ];
}
