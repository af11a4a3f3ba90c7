import type { Company } from "./request.ts";
import type { DataSource } from "../contract/wireTypes.ts";

const DATA_SOURCES = {
  industries: {
    what: "emission factors of industries",
    source: "US EPA Supply Chain GHG Emission Factors v1.3; USEEIO v2.0.1; OECD ICIO 2025",
    terms: "US public domain; CC BY 4.0 (OECD)",
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
    what: "carbon prices, global warming and emission reductions by category",
    source: "IPCC AR6: WGI table SPM.1, WGIII chapter 3 and table SPM.2, SYR table SPM.1",
    terms: "quoted with attribution",
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

/** Returns the sources of a full answer. Every scenario uses the emission reductions of the IPCC. */
export function dataSourcesOf({ damageFunction }: Pick<Company, "damageFunction">): readonly DataSource[] {
  const { climate, acute, ngfs, ipcc } = DATA_SOURCES;
  return [...EMISSION_DATA_SOURCES, climate, acute, ngfs, ipcc, DATA_SOURCES[damageFunction]];
}
