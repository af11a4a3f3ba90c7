/** Requests that are rejected with status 400 (or 422 for the asset type), with a pointer to each fault. */
import type { EmissionsMember, EntityOptions, EntityRequest } from "./request.ts";

const SIZE_MAX = 1e15;
const YEAR_MIN = 1900;
const YEAR_MAX = 2200;
const PRICE_YEAR_MIN = 2015;
const PRICE_YEAR_MAX = 2024;
const LABEL_LENGTH_MAX = 64;

export interface Refusal {
  readonly pointer: string;
  readonly reason: string;
}

export function refusalsOf(request: EntityRequest, options: EntityOptions = {}): readonly Refusal[] {
  const { data, projected_emissions: records, entity_info: info } = request;
  const refusals: Refusal[] = [];
  const refuseIf = (isFault: boolean, pointer: string, reason: string): void => {
    if (isFault) refusals.push({ pointer, reason });
  };
  refuseIf(info.asset_type !== "equity", "/entity_info/asset_type", "equity");
  refuseIf(data.length !== 1, "/data", "exactly one baseline record");
  refuseIf(records.length === 0, "/projected_emissions", "at least one record");
  for (const [index, { year, emissions, financials }] of data.entries()) {
    const pointer = `/data/${index}`;
    refuseIf(!isYear(year), `${pointer}/year`, "an integer from 1900 to 2200");
    refusals.push(...emissionsRefusals(emissions, `${pointer}/emissions`));
    refuseIf(!isSizeOk(financials?.revenue), `${pointer}/financials/revenue`, "at most 1e15 in size");
    refuseIf(!isSizeOk(financials?.ebitda), `${pointer}/financials/ebitda`, "at most 1e15 in size");
    const { currency, price_year: priceYear } = financials ?? {};
    refuseIf(
      currency !== undefined && !/^[A-Z]{3}$/.test(currency),
      `${pointer}/financials/currency`,
      "three capital letters",
    );
    refuseIf(priceYear !== undefined && !isPriceYear(priceYear), `${pointer}/financials/price_year`, "2015 to 2024");
  }
  for (const [index, { year, emissions, financials }] of records.entries()) {
    const pointer = `/projected_emissions/${index}`;
    refuseIf(!isYear(year), `${pointer}/year`, "an integer from 1900 to 2200");
    refuseIf(year <= (data[0]?.year ?? NaN), `${pointer}/year`, "after the baseline year");
    refusals.push(...emissionsRefusals(emissions, `${pointer}/emissions`));
    refuseIf(!isSizeOk(financials?.revenue), `${pointer}/financials/revenue`, "at most 1e15 in size");
  }
  const { convergence } = options;
  refuseIf(convergence !== undefined && !(convergence > 0 && convergence <= 1), "convergence", "above 0, at most 1");
  return [...refusals, ...labelRefusals(request)];
}

/** Section 8: rules of labels and probabilities, with a pointer to the record. */
function labelRefusals({ projected_emissions: records }: EntityRequest): readonly Refusal[] {
  const refusals: Refusal[] = [];
  const anyLabel = records.some(({ label }) => label !== undefined);
  const probabilityOfLabel = new Map<string, number | undefined>();
  for (const [index, { label, probability }] of records.entries()) {
    const refuseIf = (isFault: boolean, member: string, reason: string): void => {
      if (isFault) refusals.push({ pointer: `/projected_emissions/${index}/${member}`, reason });
    };
    const length = Array.from(label ?? "x").length;
    refuseIf(length < 1 || length > LABEL_LENGTH_MAX, "label", "1 to 64 characters");
    refuseIf(label === undefined && anyLabel, "label", "on all records or on none");
    refuseIf(label === undefined && probability !== undefined, "probability", "only with a label");
    refuseIf(probability !== undefined && !(probability >= 0 && probability <= 1), "probability", "0 to 1");
    if (label === undefined) continue;
    const isFirst = !probabilityOfLabel.has(label);
    if (isFirst) probabilityOfLabel.set(label, probability);
    refuseIf(
      !isFirst && probabilityOfLabel.get(label) !== probability,
      "probability",
      "the same on all records of a label",
    );
  }
  const probabilities = [...probabilityOfLabel.values()];
  const given = probabilities.filter((probability) => probability !== undefined);
  if (given.length > 0 && given.length < probabilities.length) {
    refusals.push({ pointer: "/projected_emissions", reason: "probabilities on all labels or on none" });
  }
  if (given.length > 0 && given.every((probability) => probability === 0)) {
    refusals.push({ pointer: "/projected_emissions", reason: "probabilities not all 0" });
  }
  return refusals;
}

function emissionsRefusals(emissions: EmissionsMember, pointer: string): readonly Refusal[] {
  const scopes = ["scope1", "scope2", "scope3"] as const;
  const isGiven = scopes.some((scope) => (emissions[scope] ?? null) !== null);
  return [
    ...(isGiven ? [] : [{ pointer, reason: "at least one scope" }]),
    ...scopes
      .filter((scope) => !isSizeOk(emissions[scope]))
      .map((scope) => ({ pointer: `${pointer}/${scope}`, reason: "finite and at most 1e15 in size" })),
  ];
}

function isSizeOk(value: number | null | undefined): boolean {
  return value === null || value === undefined || Math.abs(value) <= SIZE_MAX;
}

function isYear(year: number): boolean {
  return Number.isInteger(year) && year >= YEAR_MIN && year <= YEAR_MAX;
}

function isPriceYear(year: number): boolean {
  return Number.isInteger(year) && year >= PRICE_YEAR_MIN && year <= PRICE_YEAR_MAX;
}
