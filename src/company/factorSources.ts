const EPA = "US EPA Supply Chain GHG Emission Factors v1.3 (USD of 2022), split into scopes by USEEIO v2.0.1";
const MOVED = `${EPA}, compared with emissions per revenue that companies report`;

/** Sources of emission factors, by the column `factor_source` of src/reference/data/industries.csv. */
export const FACTOR_SOURCES: Readonly<Record<string, string>> = {
  epa: EPA,
  "epa-scaled": `${EPA}; partly USEEIO v2.0.1 times 0.68`,
  reporters: `${MOVED}; moved towards their middle if off by more than 1.5 times`,
  analogy: `${EPA}, moved as those of related industries whose companies report; judgment`,
  power:
    "0.6 times the US carbon intensity of electricity over its price (383.5 g CO2/kWh, 0.1236 USD/kWh), because a part " +
    "of the sales is purchased power, networks and retail; compared with emissions per revenue that companies report",
  fossil: "judgment: 640 g CO2/kWh at 0.08 USD/kWh",
  networks: "judgment: SF6 and losses of 5.5%",
  judgment: "judgment",
};
