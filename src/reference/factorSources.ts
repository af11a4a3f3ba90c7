const EPA = "US EPA Supply Chain GHG Emission Factors v1.3, split into scopes by USEEIO v2.0.1";
/** Descriptions by the first word of the column `factor_source` in data/industries.csv. */
const SOURCES: Readonly<Record<string, string>> = {
  epa: EPA,
  "epa-sales": `${EPA}; from trade margin to sales, scope 3 with the goods sold, at a gross margin of`,
  "epa-medical": `${EPA}; scope 3 with medical cost of 85% at the intensity of hospitals`,
  "epa-scaled": `${EPA}; partly USEEIO v2.0.1 times 0.68`,
  steel: "scope 1: geometric mean of EPA v1.3 and OECD ICIO 2025 (C24A) as for the US; scopes 2 and 3: EPA v1.3",
  refining: "scope 1: geometric mean of EPA v1.3 and OECD ICIO 2025 (C19) as for the US; scopes 2 and 3: EPA v1.3",
  integrated: "half oil and gas production, half refining",
  airlines: "scope 1: OECD ICIO 2025 (H51), median of 13 regions; scopes 2 and 3: EPA v1.3",
  power:
    "judgement: Ember's carbon intensity of electricity over the US price, 0.1236 USD/kWh, adjusted to the price level",
  aluminium: "judgement: USEEIO's mix of the industry and primary metal (4.8 t direct, 10.4 t of electricity per t)",
  renewables: "judgement: operation and maintenance; construction counts as scope 3",
  fossil: "judgement: 640 g CO2/kWh at 0.08 USD/kWh",
  nuclear: "judgement",
  networks: "judgement: SF6 and losses of 5.5%",
};

/** Describes the source of the emission factors of an industry from its source column. */
export function readFactorSource(source: string): {
  readonly text: string;
  /** Whether a factor is our judgment rather than taken from data. */
  readonly isJudged: boolean;
} {
  const [kind = "", grossMargin] = source.split(" ");
  const text = SOURCES[kind] ?? "";
  return {
    text: grossMargin === undefined ? text : `${text} ${Math.round(100 * Number(grossMargin))}%`,
    isJudged: text.startsWith("judgement"),
  };
}
