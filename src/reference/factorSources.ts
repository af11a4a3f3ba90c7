const EPA = "US EPA Supply Chain GHG Emission Factors v1.3, divided into scopes by USEEIO v2.0.1";
/** By the first word of a source in industries.ts. */
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
    "judgement: Ember's carbon intensity of electricity over the US price, 0.1236 USD/kWh, brought to the price level",
  aluminium: "judgement: USEEIO's mix of the industry and primary metal (4.8 t direct, 10.4 t of electricity per t)",
  renewables: "judgement: operation and maintenance; what is built stands in scope 3",
  fossil: "judgement: 640 g CO2/kWh at 0.08 USD/kWh",
  nuclear: "judgement",
  networks: "judgement: SF6 and losses of 5.5%",
};

/** Where the emission factors of an industry come from, as its line tells it. */
export function readFactorSource(source: string): {
  readonly text: string;
  /** Whether a factor is our judgement rather than taken from data. */
  readonly isJudged: boolean;
} {
  const [kind = "", grossMargin] = source.split(" ");
  const text = SOURCES[kind] ?? "";
  return {
    text: grossMargin === undefined ? text : `${text} ${Math.round(100 * Number(grossMargin))}%`,
    isJudged: text.startsWith("judgement"),
  };
}
