/** Section 6: chances of default, expected loss, leverage and coverage. */
import { KD, RF, TM } from "./constants.ts";
import { inverseNormalCdf, normalCdf } from "./normal.ts";

export interface BeforeAfter<T> {
  readonly before: T;
  readonly after: T;
}

/** Merton: PD(V) = N(-[ln(V/debt) + (RF - s^2/2) TM] / (s sqrt(TM))); 0 without debt. */
export function mertonPd(value: number, debt: number, volatility: number): number {
  if (debt === 0) return 0;
  const drift = (RF - (volatility * volatility) / 2) * TM;
  return normalCdf(-(Math.log(value / debt) + drift) / (volatility * Math.sqrt(TM)));
}

/** shift = -ln(1 - v) / (s sqrt(TM)). */
function distanceShift(lostShareOfValue: number, volatility: number): number {
  return -Math.log1p(-lostShareOfValue) / (volatility * Math.sqrt(TM));
}

/** Own one-year PD after losses: N(N^-1(pd) + shift); 0 and 1 stay. */
function ownPdAfter(pd: number, shift: number): number {
  return pd === 0 || pd === 1 ? pd : normalCdf(inverseNormalCdf(pd) + shift);
}

/** 1 - (1 - PD)^(1/TM). */
function oneYearPd(fiveYearPd: number): number {
  return -Math.expm1(Math.log1p(-fiveYearPd) / TM);
}

export interface CreditInput {
  readonly totalAssets: number;
  /** Debt of the Merton model; undefined for a bank or insurer without liabilities. */
  readonly mertonDebt: number | undefined;
  readonly volatility: number;
  /** v of a scenario or l_t of a year. */
  readonly lostShareOfValue: number;
  readonly ownPd: number | undefined;
  readonly lgd: number;
  readonly exposure: number | undefined;
}

export interface Credit {
  readonly pd5y: BeforeAfter<number | null>;
  readonly pd1y: BeforeAfter<number | null>;
  readonly basis: "own" | "model";
  readonly expectedLossBp: BeforeAfter<number | null>;
  /** Undefined where no exposure was sent. */
  readonly expectedLoss: BeforeAfter<number | null> | undefined;
}

/** Chances of default and expected losses before and after a loss of value. */
export function creditOf(input: CreditInput): Credit {
  const { totalAssets, mertonDebt, volatility, lostShareOfValue, ownPd, lgd, exposure } = input;
  const merton = (value: number): number | null =>
    mertonDebt === undefined ? null : mertonPd(value, mertonDebt, volatility);
  const pd5y = { before: merton(totalAssets), after: merton(totalAssets * (1 - lostShareOfValue)) };
  const pd1y =
    ownPd === undefined
      ? each(pd5y, (pd) => (pd === null ? null : oneYearPd(pd)))
      : { before: ownPd, after: ownPdAfter(ownPd, distanceShift(lostShareOfValue, volatility)) };
  return {
    pd5y,
    pd1y,
    basis: ownPd === undefined ? "model" : "own",
    expectedLossBp: each(pd1y, (pd) => (pd === null ? null : 1e4 * lgd * pd)),
    expectedLoss: exposure === undefined ? undefined : each(pd1y, (pd) => (pd === null ? null : exposure * lgd * pd)),
  };
}

function each<T, U>(pair: BeforeAfter<T>, change: (value: T) => U): BeforeAfter<U> {
  return { before: change(pair.before), after: change(pair.after) };
}

/** debt/ebitda and debt/(ebitda - L); null where the divisor is 0 or less. */
export function leverage(debt: number, ebitda: number, loss: number): BeforeAfter<number | null> {
  const ratio = (divisor: number): number | null => (divisor <= 0 ? null : debt / divisor);
  return { before: ratio(ebitda), after: ratio(ebitda - loss) };
}

/** ebitda/(KD debt) and (ebitda - L)/(KD debt); null without debt. */
export function coverage(debt: number, ebitda: number, loss: number): BeforeAfter<number | null> {
  const ratio = (earnings: number): number | null => (debt === 0 ? null : earnings / (KD * debt));
  return { before: ratio(ebitda), after: ratio(ebitda - loss) };
}
