/** The known answers of ../shared/cases/alignment.json. */
import type { Scopes } from "./figures.ts";
import type { Pathway } from "./reference.ts";
import type { EntityOptions, EntityRequest } from "./request.ts";
import type { Basis, Interval } from "./row.ts";
import { sharedCases } from "./sharedMethod.ts";

/** One projected year of an entity. */
export interface RowInputs {
  readonly base_year: number;
  readonly e0: Scopes;
  readonly year: number;
  readonly e1: Scopes;
  readonly sector?: Pathway;
  /** ISO alpha-3 code. */
  readonly country?: string;
  readonly basis?: Basis;
  /** All given years of the line; absent if only `year` is given. */
  readonly points?: readonly { readonly year: number; readonly e: Scopes }[];
  readonly revenue?: number;
  readonly revenue_projected?: number;
  readonly kappa?: number;
  readonly gamma?: number;
  /** Weight of scope 3. */
  readonly w3?: number;
}

export interface RowCase {
  readonly name: string;
  readonly inputs: RowInputs;
  readonly expected: Readonly<Record<string, unknown>> & {
    readonly temperature_alignment: number | null;
    readonly range?: Interval;
    readonly climate_range?: Interval;
    readonly coverage?: number;
    readonly budget?: readonly { readonly projected: number; readonly allowed: number }[];
    readonly benchmark_ratio_at_anchors?: readonly number[];
    readonly flags: readonly string[];
  };
}

/** A whole entity in the shape of a request, and its element of `results`, unrounded. */
export interface EntityCase {
  readonly name: string;
  readonly options: EntityOptions;
  readonly request: EntityRequest;
  readonly expected: Readonly<Record<string, unknown>>;
  /** Factors of the industry with which an answer with convergence was computed. */
  readonly industry_factors_t_per_musd?: { readonly scope1: number; readonly scope2: number; readonly scope3: number };
}

export const KNOWN_CASES = sharedCases("alignment") as {
  readonly cases: readonly RowCase[];
  readonly entities: readonly EntityCase[];
};

/** Returns all given years of the line of a case. */
export function pointsOf({ points, year, e1 }: RowInputs): NonNullable<RowInputs["points"]> {
  return points ?? [{ year, e: e1 }];
}
