import type { DataQuality, DataSource, EmissionsFigure, QualityMark } from "../contract/wireTypes.ts";
import type { CompanyEmissions } from "./emissions.ts";
import type { Industry } from "./industryParameters.ts";
import type { Assumptions, Company, Emitter } from "./request.ts";

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

const DATA_SOURCES = {
  industries: {
    what: "emission factors of industries",
    source:
      "US EPA Supply Chain GHG Emission Factors v1.3; USEEIO v2.0.1; OECD ICIO 2025; compared with Carbon Gap, Profit and " +
      "Emissions Database (2022)",
    terms: "US public domain; CC BY 4.0 (OECD, Carbon Gap)",
  },
  countries: {
    what: "carbon intensity of economies and of electricity",
    source: "EDGAR 2024 (European Union, JRC); World Bank GDP; Ember by way of Our World in Data",
    terms: "CC BY 4.0",
  },
  climate: {
    what: "baseline temperature and local warming",
    source: "Burke, Hsiang and Miguel 2015; patterns of 21 CMIP6 models",
    terms: "published research; CMIP6 terms of use",
  },
  acute: {
    what: "average yearly losses to river floods, wind and storm surge",
    source: "GIRI, CDRI 2023; FLOPROS (Scussolini et al. 2016)",
    terms: "CC BY 3.0 IGO; CC BY 3.0",
  },
  ngfs: {
    what: "carbon prices and global warming of the NGFS scenarios; Current Policies as the baseline of all prices",
    source: "NGFS Climate Scenarios Phase V (November 2024), IIASA NGFS Scenario Explorer",
    terms: "research and commercial use; no redistribution of substantial parts",
  },
  ipcc: {
    what: "carbon prices and global warming by category",
    source: "IPCC AR6: WGI table SPM.1, WGIII chapter 3 and table SPM.2",
    terms: "quoted with attribution",
  },
  margins: {
    what: "normal margins and balance-sheet ratios",
    source: "averages by sector after Damodaran (January 2025), rounded",
    terms: "quoted from memory",
  },
  ngfs4: {
    what: "damage function ngfs4",
    source:
      "Kalkuhl and Wenz 2020, Journal of Environmental Economics and Management, scaled to NGFS Phase IV; van der Wijst et " +
      "al. 2023, Nature Climate Change",
    terms: "published research",
  },
  kalkuhl_wenz: {
    what: "damage function kalkuhl_wenz",
    source: "Kalkuhl and Wenz 2020, Journal of Environmental Economics and Management",
    terms: "published research",
  },
  howard_sterner: {
    what: "damage function howard_sterner",
    source: "Howard and Sterner 2017, Environmental and Resource Economics",
    terms: "published research",
  },
  dice2016: {
    what: "damage function dice2016",
    source: "Nordhaus 2017, PNAS (DICE-2016R)",
    terms: "published research",
  },
  ngfs5_kotz: {
    what: "damage function ngfs5_kotz",
    source: "Kalkuhl and Wenz 2020, scaled to Kotz, Levermann and Wenz 2024, Nature: RETRACTED in December 2025",
    terms: "published research, withdrawn",
  },
} as const satisfies Record<string, DataSource>;

/** Sources of estimated emissions. */
export const EMISSION_DATA_SOURCES: readonly DataSource[] = [DATA_SOURCES.industries, DATA_SOURCES.countries];

/** Returns the sources of a full answer. Every scenario is compared with Current Policies of the NGFS. */
export function dataSourcesOf({ damageFunction }: Pick<Assumptions, "damageFunction">): readonly DataSource[] {
  const { climate, acute, ngfs, ipcc, margins } = DATA_SOURCES;
  return [...EMISSION_DATA_SOURCES, margins, climate, acute, ngfs, ipcc, DATA_SOURCES[damageFunction]];
}
