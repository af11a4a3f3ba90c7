/** Lines of a portfolio, and the holdings merged from them: sections 1 and 2 of the method text (see portfolio.ts). */

export type Scope = "s1s2" | "s3" | "s1s2s3";

export interface Interval {
  readonly low: number;
  readonly high: number;
}

export interface Score {
  readonly t: number;
  /** Null where the score has no interval. */
  readonly interval: Interval | null;
}

/** Budget of a company: allowed and projected emissions over the same years, t CO2e. */
export interface Budget {
  readonly allowed: number;
  readonly projected: number;
}

type Figure = number | null | undefined;

/** Figures of a company in the order of the request. */
export interface CompanyFigures {
  readonly scope1?: Figure;
  readonly scope2?: Figure;
  readonly scope3?: Figure;
  readonly market_cap?: Figure;
  readonly enterprise_value?: Figure;
  readonly cash?: Figure;
  readonly evic?: Figure;
  readonly total_assets?: Figure;
  readonly revenue?: Figure;
  readonly equity?: Figure;
  readonly debt?: Figure;
}

type GivenScore = number | { readonly t: number; readonly low?: Figure; readonly high?: Figure } | null | undefined;

/** A line as sent; members that are null are absent. `Entity` is the shape of a company to be scored. */
export interface Line<Entity = never> extends CompanyFigures {
  readonly id: string;
  readonly issuer?: string | null;
  readonly value: number;
  readonly entity?: Entity | null;
  readonly temperature?: Readonly<Partial<Record<Scope, GivenScore>>> | null;
  readonly data_quality?: { readonly s1s2?: Figure; readonly s3?: Figure } | null;
  readonly budget?: Budget | null;
  readonly groups?: Readonly<Record<string, string | null>> | null;
}

/** What an entity contributes to its holding. */
export interface EntityFigures {
  readonly scores: Readonly<Record<Scope, Score | null>>;
  readonly budget: Budget | null;
  readonly figures: Pick<CompanyFigures, "scope1" | "scope2" | "scope3" | "revenue">;
}

export interface Holding {
  readonly id: string;
  readonly value: number;
  readonly scores: Readonly<Record<Scope, Score | null>>;
  readonly figures: CompanyFigures;
  readonly quality: { readonly s1s2: number | null; readonly s3: number | null };
  readonly budget: Budget | null;
  readonly groups: Readonly<Record<string, string | null>>;
}

/** Merges the lines of each issuer and scores the entities of the merged holdings. */
export function holdingsOf<Entity>(
  lines: readonly Line<Entity>[],
  scoreEntity: (entity: Entity) => EntityFigures,
): readonly Holding[] {
  return mergedLines(lines).map((line) => {
    const entity = line.entity ? scoreEntity(line.entity) : null;
    return {
      id: line.id,
      value: line.value,
      scores: entity?.scores ?? givenScores(line),
      figures: entity === null ? line : { ...line, ...givenFigures(entity.figures) },
      quality: { s1s2: line.data_quality?.s1s2 ?? null, s3: line.data_quality?.s3 ?? null },
      budget: entity?.budget ?? line.budget ?? null,
      groups: line.groups ?? {},
    };
  });
}

/** Section 2: one line per issuer, named after it, in the order of first appearance; values are added. */
function mergedLines<Entity>(lines: readonly Line<Entity>[]): readonly Line<Entity>[] {
  const merged = new Map<string, Line<Entity>>();
  for (const line of lines) {
    const issuer = line.issuer ?? line.id;
    const first = merged.get(issuer);
    merged.set(issuer, first === undefined ? { ...line, id: issuer } : { ...first, value: first.value + line.value });
  }
  return [...merged.values()];
}

function givenScores({ temperature }: Pick<Line, "temperature">): Record<Scope, Score | null> {
  const scoreOf = (scope: Scope): Score | null => {
    const given = temperature?.[scope] ?? null;
    if (given === null || typeof given === "number") return given === null ? null : { t: given, interval: null };
    const { t, low = null, high = null } = given;
    return { t, interval: low === null || high === null ? null : { low, high } };
  };
  return { s1s2: scoreOf("s1s2"), s3: scoreOf("s3"), s1s2s3: scoreOf("s1s2s3") };
}

/** The members that are given. */
function givenFigures(figures: CompanyFigures): CompanyFigures {
  return Object.fromEntries(
    Object.entries(figures).filter(([, figure]: [string, Figure]) => figure !== undefined && figure !== null),
  );
}
