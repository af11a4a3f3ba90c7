import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * Reference implementation of the loss of a company, directly from the formulas: reads the source tables itself, searches
 * their rows for every figure and caches nothing.
 */
const REFERENCE = fileURLToPath(new URL("../../../shared/reference/", import.meta.url));

type Row = Readonly<Record<string, string>>;

function rowsOf(file: string): readonly Row[] {
  if (!existsSync(REFERENCE + file)) return [];
  const records: string[][] = [];
  let [cell, record, isQuoted] = ["", [] as string[], false];
  const text = readFileSync(REFERENCE + file, "utf8");
  for (let i = 0; i < text.length; i++) {
    const letter = text[i] ?? "";
    if (isQuoted) {
      if (letter !== '"') cell += letter;
      else if (text[i + 1] === '"') cell += text[++i];
      else isQuoted = false;
    } else if (letter === '"') isQuoted = true;
    else if (letter === "," || letter === "\n") {
      record.push(cell);
      cell = "";
      if (letter === "\n") {
        records.push(record);
        record = [];
      }
    } else if (letter !== "\r") cell += letter;
  }
  const [head = [], ...rows] = records;
  return rows.map((row) => Object.fromEntries(head.map((name, column) => [name, row[column] ?? ""])));
}

const INDUSTRY_ROWS = rowsOf("industries.csv");
const COUNTRY_ROWS = rowsOf("countries.csv");
const SCENARIO_ROWS = rowsOf("scenarios.csv");
const PRICE_ROWS = rowsOf("carbon_prices.csv");
const TEMPERATURE_ROWS = rowsOf("temperatures.csv");
const CUT_ROWS = rowsOf("abatement_ar6.csv");

export const ORACLE_INDUSTRIES = INDUSTRY_ROWS.map((row) => row["id"] ?? "");
/** Supported countries, as alpha-3 codes. */
export const ORACLE_COUNTRIES = COUNTRY_ROWS.filter((row) => row["tier"] !== "C").map((row) => row["iso3"] ?? "");
export const ORACLE_SCENARIOS = SCENARIO_ROWS.map((row) => row["scenario_id"] ?? "");

function only(rows: readonly Row[], column: string, value: string): Row {
  const row = rows.find((candidate) => candidate[column] === value);
  if (row === undefined) throw new Error(`No row with ${column} ${value}.`);
  return row;
}

function num(row: Row, column: string): number {
  const text = row[column] ?? "";
  if (text === "") throw new Error(`${column} is empty.`);
  return Number(text);
}

/** Interpolates linearly between the points; undefined outside of them. */
function interpolated(points: readonly (readonly [number, number])[], at: number): number | undefined {
  const sorted = points.toSorted(([one], [other]) => one - other);
  for (let i = 0; i < sorted.length; i++) {
    const [x, y] = sorted[i] ?? [NaN, NaN];
    if (x === at) return y;
    const [before, value] = sorted[i - 1] ?? [NaN, NaN];
    if (before < at && at < x) return value + (y - value) * ((at - before) / (x - before));
  }
  return undefined;
}

export interface OracleCompany {
  readonly industry: string;
  readonly country: string;
  readonly revenue: number;
  readonly totalAssets: number;
  readonly ebitda: number;
  readonly totalDebt: number;
  readonly scope1?: number | undefined;
  readonly scope2?: number | undefined;
  readonly scope3?: number | undefined;
  readonly totalLiabilities?: number | undefined;
  readonly damageFunction?: string | undefined;
  readonly iam?: "remind" | "messageix" | "gcam" | undefined;
  readonly allowGains?: boolean | undefined;
}

const INFL = 1.1;
const TAX = 0.25;
const R = 0.08;
const [RF, TM] = [0.03, 5];
const KD = 0.05;
const LGD = 0.45;
const LOANS = 0.55;
const KOUT = 3.5;

/** Complementary error function by its series near 0 and its continued fraction elsewhere. */
function erfc(x: number): number {
  if (x < 0) return 2 - erfc(-x);
  if (x > 30) return 0;
  if (x < 1.5) {
    let [term, sum] = [x, x];
    for (let n = 1; n < 200; n++) {
      term *= (-x * x) / n;
      sum += term / (2 * n + 1);
    }
    return 1 - (2 / Math.sqrt(Math.PI)) * sum;
  }
  let fraction = x;
  for (let k = 400; k >= 1; k--) fraction = x + k / 2 / fraction;
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / fraction;
}

function merton(value: number, debt: number, s: number): number {
  if (debt === 0) return 0;
  if (value <= 0) return 1;
  const z = (Math.log(value) - Math.log(debt) + (RF - 0.5 * s * s) * TM) / (s * Math.sqrt(TM));
  return 0.5 * erfc(z / Math.sqrt(2));
}

export interface OracleEmissions {
  s1: number;
  s2: number;
  s3up: number;
  s3down: number;
  financed: number | null;
}

export function emissionsByDefinition(company: OracleCompany): OracleEmissions {
  const i = only(INDUSTRY_ROWS, "id", company.industry);
  const c = only(COUNTRY_ROWS, "iso3", company.country);
  const rt = company.revenue / 1e6 / INFL;
  const rho = num(c, "ci_ratio_us");
  const pl = num(c, "price_level_rel_us");
  const k1 = num(i, "theta_s1") === 0 ? 1 : Math.min(3, Math.max(0.4, Math.pow(rho, num(i, "theta_s1"))));
  const k2 = num(c, "grid_ratio_us") * Math.min(2.2, Math.max(0.8, 1 / Math.sqrt(pl)));
  const k3 = Math.min(2, Math.max(0.6, Math.pow(rho, 0.4)));
  let s1 = num(i, "s1_t_per_musd") * k1 * rt;
  if (company.industry === "electric_utilities") s1 = (num(c, "grid_gco2_kwh") / (0.1236 * Math.sqrt(pl))) * rt;
  const s2 = num(i, "s2_t_per_musd") * k2 * rt;
  const s3up = num(i, "s3up_t_per_musd") * k3 * rt;
  const s3down = num(i, "s3down_t_per_musd") * rt;
  const { scope3 } = company;
  return {
    s1: company.scope1 ?? s1,
    s2: company.scope2 ?? s2,
    s3up: scope3 === undefined ? s3up : (scope3 * s3up) / (s3up + s3down),
    s3down: scope3 === undefined ? s3down : (scope3 * s3down) / (s3up + s3down),
    financed:
      i["archetype"] === "banks"
        ? (((LOANS * company.totalAssets) / 1e6 / INFL) * num(c, "ei_t_per_musd_nominal_2022")) / KOUT
        : null,
  };
}

const MODEL_NAMES = {
  remind: "REMIND-MAgPIE 3.3-4.8",
  messageix: "MESSAGEix-GLOBIOM 2.0-M-R12-NGFS",
  gcam: "GCAM 6.0 NGFS",
  ar6: "AR6 scenario ensemble",
} as const;

/** Returns a price in USD of 2025; undefined if the table has none. */
function priceOf(of: {
  readonly path: string;
  readonly model: string;
  readonly region: string;
  readonly year: number;
  readonly column?: string | undefined;
}): number | undefined {
  const points = PRICE_ROWS.filter(
    (row) => row["scenario_id"] === of.path && row["model"] === of.model && row["region"] === of.region,
  ).map((row) => [num(row, "year"), num(row, of.column ?? "price_usd2022")] as const);
  const price = interpolated(points, of.year);
  return price === undefined ? undefined : INFL * price;
}

function defined(value: number | undefined): number {
  if (value === undefined) throw new Error("The table has no value.");
  return value;
}

function gsatOf(path: string, year: number): number {
  const points = TEMPERATURE_ROWS.filter((row) => row["scenario_id"] === path).map(
    (row) => [num(row, "year"), num(row, "gsat_c_vs_1850_1900")] as const,
  );
  return defined(interpolated(points, year));
}

function cutOf(category: string, year: number): number {
  const row = only(CUT_ROWS, "ar6_category", category);
  const points = [
    [2020, 0],
    [2030, num(row, "cut_2030_pct")],
    [2040, num(row, "cut_2040_pct")],
    [2050, num(row, "cut_2050_pct")],
  ] as const;
  return Math.max(0, defined(interpolated(points, Math.min(year, 2050))) / 100);
}

function damageOf(c: Row, path: string, year: number, company: OracleCompany): number {
  const w = num(c, "warming_ratio");
  const [g, g2020] = [gsatOf(path, year), gsatOf(path, 2020)];
  const t = num(c, "t0_c") + w * (g - 0.55);
  const t2020 = num(c, "t0_c") + w * (g2020 - 0.55);
  const [a, b] = [0.00641 + 0.00345, -0.00109 - 0.000718];
  const kw = -(a * (t - t2020) + (b / 2) * (t ** 2 - t2020 ** 2));
  const name = company.damageFunction ?? "kalkuhl_wenz";
  const damage =
    name === "kalkuhl_wenz"
      ? kw
      : name === "ngfs5_kotz"
        ? 10.1 * kw
        : (name === "dice2016" ? 0.00236 : 0.0074 + 0.00113) * (g ** 2 - g2020 ** 2);
  return company.allowGains === true ? damage : Math.max(0, damage);
}

function aalOf(c: Row, path: string, year: number): { flood: number; wind: number; surge: number } {
  const warmer = Math.max(0, gsatOf(path, year) - 1.23);
  return {
    flood: num(c, "aal_flood") * (1 + 0.65 * warmer),
    wind: num(c, "aal_wind") * (1 + 0.16 * warmer),
    surge: num(c, "aal_surge") * (1 + 0.2 * warmer),
  };
}

interface Change {
  /** Another price model or column of the price table. */
  readonly model?: string;
  readonly column?: string;
  readonly passThrough?: number;
  readonly scope1?: number;
}

export type OracleYear = Readonly<Record<string, number | string | boolean | null>>;

/** Computes all figures of one scenario and year except the range. A given `ecl` replaces the credit loss of a bank. */
function yearOf(
  company: OracleCompany,
  scenarioId: string,
  year: number,
  change: Change = {},
  ecl?: number,
): Record<string, number | string | boolean | null> & { total: number; x: number } {
  const i = only(INDUSTRY_ROWS, "id", company.industry);
  const c = only(COUNTRY_ROWS, "iso3", company.country);
  const s = only(SCENARIO_ROWS, "scenario_id", scenarioId);
  const path = s["price_path"] ?? "";
  const temperaturePath = s["temperature_path"] ?? "";
  const region = c["ngfs_r5"] ?? "";
  const isIpccPrice = path.startsWith("IPCC_");
  const mainModel = isIpccPrice
    ? MODEL_NAMES.ar6
    : MODEL_NAMES[s["family"] === "NGFS" ? (company.iam ?? "remind") : "remind"];
  const model = change.model ?? mainModel;
  const { column } = change;
  const B = company.ebitda;

  const price = defined(priceOf({ path, model, region: isIpccPrice ? "World" : region, year, column }));
  const base = defined(priceOf({ path: "NGFS_CURRENT_POLICIES", model: MODEL_NAMES.remind, region, year }));
  const dp = Math.max(0, price - base);
  const archetype = i["archetype"] ?? "";
  let dpf = dp;
  if (["oilgas_up", "refining", "coal"].includes(archetype)) {
    const world = priceOf({ path, model, region: "World", year, column });
    const worldBase = defined(
      priceOf({ path: "NGFS_CURRENT_POLICIES", model: MODEL_NAMES.remind, region: "World", year }),
    );
    dpf = world === undefined ? dp : Math.max(0, world - worldBase);
  }

  const cut = cutOf(s["abatement_category"] ?? "", year);
  const u = (pb: number): number => {
    const alpha = cut * Math.min(1, dp / pb);
    return dp * (1 - alpha) + 0.5 * alpha * Math.min(dp, pb);
  };
  const pb = num(i, "abatement_backstop_usd_t");
  const e = emissionsByDefinition(company);
  const s1 = e.s1 * (change.scope1 ?? 1);
  const G = s1 * u(pb) + 0.85 * e.s2 * u(100) + 0.5 * e.s3up * u(200);

  const short = num(i, "pass_through");
  const long = num(i, "pass_through_long");
  const pt0 = short + (long - short) * Math.max(0, Math.min(1, (year - 2025) / 15));
  const pt = Math.max(0, Math.min(1, pt0 + (change.passThrough ?? 0)));
  const eps = num(i, "demand_elasticity");
  const q = -Math.min(0.8, (eps * pt * G) / company.revenue);
  const sellsFuel = ["oilgas_up", "refining", "coal", "pipelines"].includes(archetype);
  const qf = sellsFuel ? -Math.min(0.8, (eps * dpf * e.s3down) / company.revenue) : 0;
  const vol = (1 + q) * (1 + qf) - 1;
  const raw = (B > 0 ? -B * vol : 0) + (1 - pt) * G * (1 + vol);
  const transition = B > 0 ? Math.min(raw, B) : raw;

  const D = damageOf(c, temperaturePath, year, company);
  const eta = num(i, "heat_sensitivity");
  const hazards = aalOf(c, temperaturePath, year);
  const aal = hazards.flood + hazards.wind + hazards.surge;
  const chronic = D * eta * Math.max(B, 0);
  const acute = company.totalAssets * num(i, "tangible_share") * aal;
  const bi = Math.max(B, 0) * aal;

  let credit = 0;
  if (archetype === "banks") {
    if (ecl === undefined) {
      const borrower: OracleCompany = {
        industry: "miscellaneous",
        country: company.country,
        revenue: 1,
        totalAssets: 1.2,
        ebitda: 0.16,
        totalDebt: 0.5,
        damageFunction: company.damageFunction,
        iam: company.iam,
        allowGains: company.allowGains,
      };
      const { x } = yearOf(borrower, scenarioId, year, {
        ...(change.model === undefined ? {} : { model: change.model }),
        ...(column === undefined ? {} : { column }),
      });
      const pd1 = merton(1.2 * (1 - Math.min(1, x)), 0.5, 0.25) / 5;
      const pd0 = merton(1.2, 0.5, 0.25) / 5;
      credit = LOANS * company.totalAssets * LGD * Math.max(0, pd1 - pd0);
    } else credit = ecl;
  }

  const interaction = -(D * eta + aal) * Math.min(Math.max(transition, 0), Math.max(B, 0));
  const total = transition + chronic + acute + bi + credit + interaction;
  const per = B > 0 ? B : 0.16 * company.revenue;
  const share = (loss: number): number => Math.max(0, loss) / per;
  const scored = (loss: number): number => (100 * share(loss)) / (share(loss) + 0.25);
  const score = scored(total);
  const w = num(c, "warming_ratio");
  return {
    price,
    base,
    dp,
    dpf,
    cut,
    alpha: cut * Math.min(1, dp / pb),
    u1: u(pb),
    rho: pt,
    G,
    q,
    qf,
    vol,
    volume_floor:
      (eps * pt * G) / company.revenue > 0.8 || (sellsFuel && (eps * dpf * e.s3down) / company.revenue > 0.8),
    transition_raw: raw,
    transition,
    capped: B > 0 && raw > B,
    gsat: gsatOf(temperaturePath, year),
    T0: num(c, "t0_c") + w * (gsatOf(temperaturePath, 2020) - 0.55),
    Tt: num(c, "t0_c") + w * (gsatOf(temperaturePath, year) - 0.55),
    D,
    flood: hazards.flood,
    wind: hazards.wind,
    surge: hazards.surge,
    aal,
    chronic,
    chronic_bound: D * eta * num(i, "va_share") * company.revenue,
    acute,
    bi,
    ecl: credit,
    interaction,
    total,
    x: share(total),
    score,
    transition_score: scored(transition + credit),
    physical_score: scored(chronic + acute + bi),
    rating: score <= 10 ? "A" : score <= 25 ? "B" : score <= 50 ? "C" : score <= 75 ? "D" : "E",
    lev0: B > 0 ? company.totalDebt / B : null,
    lev1: B > 0 && B - total > 0 ? company.totalDebt / (B - total) : null,
    cov0: company.totalDebt === 0 ? null : B / (KD * company.totalDebt),
    cov1: company.totalDebt === 0 ? null : (B - total) / (KD * company.totalDebt),
  };
}

/** Computes one scenario and year with the range and optionally the percentiles among the tier A countries. */
export function resultByDefinition(
  company: OracleCompany,
  scenarioId: string,
  year: number,
  { hasPercentiles = true }: { readonly hasPercentiles?: boolean } = {},
): OracleYear {
  const central = yearOf(company, scenarioId, year);
  const s = only(SCENARIO_ROWS, "scenario_id", scenarioId);
  const c = only(COUNTRY_ROWS, "iso3", company.country);
  const path = s["price_path"] ?? "";
  const runs = [central];
  if (path.startsWith("IPCC_")) {
    for (const column of ["p25_usd2022", "p75_usd2022"]) runs.push(yearOf(company, scenarioId, year, { column }));
  } else {
    for (const model of [MODEL_NAMES.remind, MODEL_NAMES.messageix, MODEL_NAMES.gcam]) {
      if (priceOf({ path, model, region: c["ngfs_r5"] ?? "", year }) === undefined) continue;
      runs.push(yearOf(company, scenarioId, year, { model }));
    }
  }
  const ecl = Number(central["ecl"]);
  for (const passThrough of [-0.15, 0.15]) runs.push(yearOf(company, scenarioId, year, { passThrough }, ecl));
  if (company.scope1 === undefined) {
    for (const scope1 of [0.5, 2]) runs.push(yearOf(company, scenarioId, year, { scope1 }, ecl));
  }
  const shares = runs.map(({ x }) => x);
  return {
    ...central,
    low: Math.min(...shares),
    high: Math.max(...shares),
    always_capped: runs.every((run) => run["capped"] === true),
    ...(hasPercentiles ? percentilesOf(company, s["temperature_path"] ?? "", year, central) : {}),
  };
}

function percentilesOf(company: OracleCompany, path: string, year: number, central: OracleYear): OracleYear {
  const tierA = COUNTRY_ROWS.filter((row) => row["tier"] === "A");
  const rank = (value: number, others: readonly number[]): number => {
    const smaller = others.filter((other) => other < value).length;
    const equal = others.filter((other) => other === value).length;
    return (100 * (smaller + equal / 2)) / others.length;
  };
  const aals = tierA.map((row) => {
    const { flood, wind, surge } = aalOf(row, path, year);
    return flood + wind + surge;
  });
  const damages = tierA.map((row) => damageOf(row, path, year, company));
  return {
    percentile_acute: rank(Number(central["aal"]), aals),
    percentile_chronic: rank(Number(central["D"]), damages),
  };
}

/** Computes the effect of a scenario on value and default probability. */
export function valuationByDefinition(company: OracleCompany, scenarioId: string): OracleYear {
  const i = only(INDUSTRY_ROWS, "id", company.industry);
  const A = company.totalAssets;
  let [npv, npvB] = [0, 0];
  for (let year = 2026; year <= 2050; year++) {
    npv += ((1 - TAX) * yearOf(company, scenarioId, year).total) / Math.pow(1 + R, year - 2025);
    npvB += ((1 - TAX) * company.ebitda) / Math.pow(1 + R, year - 2025);
  }
  const isFinancial = ["banks", "insurance"].includes(i["archetype"] ?? "");
  const limited = Math.min(npv, A);
  const V1 = isFinancial || company.ebitda <= 0 ? A - limited : A * (1 - Math.min(1, npv / npvB));
  const debt = isFinancial ? company.totalLiabilities : company.totalDebt;
  const s = num(i, "asset_vol");
  return {
    npv: limited,
    npv_raw: npv,
    V1,
    var_pct: company.ebitda > 0 ? (100 * npv) / npvB : null,
    pd0: debt === undefined ? null : merton(A, debt, s),
    pd1: debt === undefined ? null : merton(V1, debt, s),
  };
}
