/** What the comparisons ask, and what they get: the same of every contender, ours among them. */
import type { Workload } from "./workload.ts";
import { LAYER_COUNT } from "./workload.ts";

/** `both` is for those that find the two in one pass; ours answers it with two questions. */
export type Asked = "max" | "mean" | "both";

/** For each of the 21 layers, in steps; NaN where no cell is valid, or where it was not asked. */
export interface CircleAnswer {
  readonly max: Float64Array;
  readonly mean: Float64Array;
}

export function emptyAnswer(): CircleAnswer {
  return { max: new Float64Array(LAYER_COUNT).fill(Number.NaN), mean: new Float64Array(LAYER_COUNT).fill(Number.NaN) };
}

/** Circles of one radius around some of the workload's places. */
export interface CircleQuestion {
  /** Positions in `workload.places`. */
  readonly places: readonly number[];
  readonly radiusKm: number;
  readonly asked: Asked;
}

/** Someone who can answer circles, with the workload already in its hands. */
export interface CircleContender {
  readonly name: string;
  /** Said beside its row: how it was built, what it cannot do. */
  readonly note?: string;
  answer(question: CircleQuestion): Promise<readonly CircleAnswer[]>;
  /** Answers them all and throws the answers away. @returns nanoseconds taken, where the contender times itself */
  run(question: CircleQuestion): Promise<number | undefined>;
  close(): Promise<void>;
}

/** Opens a rival. @returns why it cannot take part, where what it needs is not installed */
export type OpenRival = (workload: Workload) => Promise<CircleContender | string>;

/** A contender in this process: one place at a time. */
export function inProcess(
  name: string,
  ask: (place: number, radiusKm: number, asked: Asked) => CircleAnswer | Promise<CircleAnswer>,
  more: { readonly note?: string; close?(): Promise<void> } = {},
): CircleContender {
  return {
    name,
    ...(more.note === undefined ? {} : { note: more.note }),
    async answer({ places, radiusKm, asked }) {
      const answers: CircleAnswer[] = [];
      for (const place of places) answers.push(await ask(place, radiusKm, asked));
      return answers;
    },
    async run({ places, radiusKm, asked }) {
      for (const place of places) {
        const answer = ask(place, radiusKm, asked);
        if (answer instanceof Promise) await answer; // what is at hand at once is not made to wait
      }
      return undefined;
    },
    close: more.close ?? (() => Promise.resolve()),
  };
}

/** How far a rival's answers may be from ours and still be answers to the same question. */
export interface Closeness {
  /** Share of all maxima that must be the same. */
  readonly sameMaxShare: number;
  /** Largest relative difference of the median mean. */
  readonly meanError: number;
}

/** Same cells, same arithmetic. */
export const EXACT: Closeness = { sameMaxShare: 1, meanError: 1e-12 };
/**
 * The haversine on a sphere, or a polygon for the circle: up to 4 parts in 1000 of the radius too long or too short,
 * so other cells along the rim, which where water lies at the rim means another mean and sometimes another maximum.
 */
export const NEARLY: Closeness = { sameMaxShare: 0.7, meanError: 0.04 };

/**
 * Compares answers before anything is timed: a rival that is fast because it does something else is none.
 * @throws Error when they are too far apart
 */
export function checkAgreement(
  rival: string,
  { ours, theirs }: { readonly ours: readonly CircleAnswer[]; readonly theirs: readonly CircleAnswer[] },
  closeness: Closeness,
): void {
  if (ours.length !== theirs.length) throw new Error(`${rival} answered ${theirs.length} of ${ours.length} circles.`);
  let compared = 0;
  let same = 0;
  const errors: number[] = [];
  for (const [i, own] of ours.entries()) {
    for (let layer = 0; layer < LAYER_COUNT; layer++) {
      const [max = Number.NaN, theirMax = Number.NaN] = [own.max[layer], theirs[i]?.max[layer]];
      const [mean = Number.NaN, theirMean = Number.NaN] = [own.mean[layer], theirs[i]?.mean[layer]];
      compared += 1;
      if (Object.is(max, theirMax)) same += 1;
      if (Number.isNaN(mean) !== Number.isNaN(theirMean)) errors.push(1);
      else if (!Number.isNaN(mean))
        errors.push(mean === theirMean ? 0 : Math.abs(theirMean - mean) / Math.max(mean, 1));
    }
  }
  errors.sort((a, b) => a - b);
  // The worst of the exact ones, the typical one where the rim may differ.
  const error = errors[closeness.sameMaxShare === 1 ? errors.length - 1 : errors.length >> 1] ?? 0;
  if (!(same >= compared * closeness.sameMaxShare && error <= closeness.meanError)) {
    throw new Error(
      `${rival} does not answer as we do: ${same} of ${compared} maxima are the same, and means differ by ${error}.`,
    );
  }
}
