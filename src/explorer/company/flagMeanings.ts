/** What flags and reasons of the temperature alignment mean, in words. */
import type { AlignmentFlag, AlignmentReason } from "../../contract/wireTypes.ts";

export const FLAG_MEANINGS: Readonly<Record<AlignmentFlag, string>> = {
  unknown_industry: "Neither the industry nor the sector is known, so the company is compared with the whole economy.",
  industry_from_sector: "The industry is not known, so the sector decided which pathway the company is compared with.",
  unknown_country: "The country is not known, so the company is assumed to grow as the economies of the benchmark do.",
  unknown_classification: "The classification system is not known. Names are matched in the same way for all systems.",
  scope3_absent: "Scope 3 is given in no year, so the temperature covers scopes 1 and 2 only.",
  early_baseline: "The baseline year is before 2018.",
  scope_dropped: "A scope is given either for the baseline or for this year, but not for both. It is left out.",
  no_usable_scope: "No scope is given both for the baseline and for this year.",
  zero_baseline: "The emissions of the baseline are zero.",
  negative_scope: "A scope is negative (removals). A negative sum counts as zero.",
  implausible_change: "Emissions or revenue change faster than is plausible. Check the units.",
  growth_default:
    "Neither revenue nor a known country is given, so the company is assumed to grow as the economies of the benchmark do.",
  growth_region: "The country has no growth series, so that of its region is used.",
  growth_limited: "The difference in growth exceeds the limits of the method and was limited.",
  growth_driven: "Assumed or supplied growth moves the temperature by more than 0.3 °C.",
  revenue_unusable: "Revenue is given but cannot be used for growth or convergence.",
  short_horizon:
    "The year is less than five years after the baseline, or before 2030. The change was extrapolated at the same annual rate.",
  beyond_table: "The year is after 2060, where the pathways end. They are assumed to be constant.",
  duplicate_year: "The year is given more than once in the same projection.",
  anchors_close: "The scenarios of the benchmark are out of order or hardly differ in this year.",
  sensitive: "A change of the emissions by 7.5 % moves the temperature by more than 0.3 °C.",
};

export const REASON_MEANINGS: Readonly<Record<AlignmentReason, string>> = {
  no_usable_scope: "no temperature: no scope is given both for the baseline and for this year",
  zero_baseline: "no temperature: the emissions are zero in the baseline, but not in this year",
};
