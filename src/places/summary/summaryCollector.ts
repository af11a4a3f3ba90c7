import { HAZARD_NAMES, SCENARIOS } from "../../contract/names.ts";
import { Fault } from "../../errors.ts";
import type { HazardName } from "../../hazard/hazards.ts";
import { quote } from "../../validation/schemaErrors.ts";
import { GroupStatistics, type ScoreCells, type SummaryGroup } from "./groupStatistics.ts";
import { type PlaceCandidate, type PlaceReader, PlaceSample, TopPlaces } from "./placeList.ts";
import type {
  GroupSummary,
  InvalidPlace,
  PartOmission,
  PlaceSummary,
  SeriesPlaces,
  StatedScores,
  SummaryOptions,
} from "./placeSummary.ts";
import {
  type GroupColumns,
  hasMetric,
  impliedThresholds,
  leadingMetric,
  type MetricThreshold,
  type ScoreKey,
  scoreKeyText,
  type SeriesName,
  SUMMARY_METRICS,
  type SummaryMetric,
} from "./scoreColumns.ts";
import type { CountPrecision } from "./distribution.ts";

/** Exact for values at points, which are stored steps; means over circles can have more different values. */
const FILE_PRECISION = { distinctCountMax: 20_000, roundedBits: 10 };
/** A file can have thousands of distributions by the values of a column, so each takes less memory. */
const PART_PRECISION = { distinctCountMax: 128, roundedBits: 5 };
const PART_DISTRIBUTION_COUNT_MAX = 200_000;
/**
 * What is summarized by the values of a column, and how many distributions (values x groups x metrics) there are at most.
 * They take up to 12 kB each with quantiles, and about 0.6 kB without. If there are more, the next detail applies.
 */
const PART_DETAILS: readonly {
  readonly omitted: readonly PartOmission[];
  readonly precision: CountPrecision | undefined;
  readonly distributionCountMax: number;
}[] = [
  { omitted: [], precision: PART_PRECISION, distributionCountMax: 50_000 },
  { omitted: ["other_columns"], precision: PART_PRECISION, distributionCountMax: 50_000 },
  { omitted: ["other_columns", "quantiles"], precision: undefined, distributionCountMax: PART_DISTRIBUTION_COUNT_MAX },
];
const INVALID_ROWS_LISTED_MAX = 10;

interface Part {
  invalidRowCount: number;
  /** By index of the group; undefined before its first row. */
  readonly statistics: (GroupStatistics | undefined)[];
}

interface SelectedSeries {
  readonly name: SeriesName;
  readonly position: number;
  readonly top: TopPlaces;
  readonly sample: PlaceSample;
}

const NO_PLACES: PlaceReader = { idOf: () => null, latitudeOf: () => NaN, longitudeOf: () => NaN, shownOf: () => [] };

/** Accumulates the summary of an output from its scores, in any order of the groups. */
export class SummaryCollector {
  readonly #options: SummaryOptions;
  readonly #stated: StatedScores | undefined;
  readonly #groups: SummaryGroup[] = [];
  readonly #statistics: GroupStatistics[] = [];
  /** Selected columns of each group, by its index. */
  readonly #selected: SelectedSeries[][] = [];
  readonly #parts = new Map<string | null, Part>();
  readonly #candidate: PlaceCandidate = { ordinal: 0, rowNumber: 0, reader: NO_PLACES, row: 0 };
  /** Position in PART_DETAILS. */
  #partDetail = 0;
  #partDistributionCount = 0;
  #invalidRowCount = 0;
  readonly #invalidRows: InvalidPlace[] = [];

  constructor(options: SummaryOptions, stated: StatedScores | undefined) {
    this.#options = options;
    this.#stated = stated;
  }

  /** Adds a group and returns its index. */
  addGroup(key: ScoreKey, columns: GroupColumns): number {
    const present = SUMMARY_METRICS.filter((metric) => columns.metrics.has(metric) && hasMetric(key.hazard, metric));
    const metrics = present.map((metric) => ({
      position: SUMMARY_METRICS.indexOf(metric),
      thresholds: this.#thresholdsOf(key.hazard, metric),
      hasBounds: columns.bounds.has(metric),
    }));
    const group = { key, metrics };
    const index = this.#groups.push(group) - 1;
    this.#statistics.push(new GroupStatistics(group, FILE_PRECISION));
    this.#selected.push([]);
    this.#select(index, key, present);
    return index;
  }

  addInvalidRow(row: InvalidPlace, partValue: string | null): void {
    this.#invalidRowCount++;
    if (this.#invalidRows.length < INVALID_ROWS_LISTED_MAX) this.#invalidRows.push(row);
    if (this.#options.groupBy !== undefined) this.#partOf(partValue).invalidRowCount++;
  }

  /**
   * Adds the scores of a row in a group.
   * @throws Fault `configuration_invalid` if the column of `groupBy` has too many values
   */
  addScores(
    groupIndex: number,
    cells: ScoreCells,
    place: { readonly reader: PlaceReader; readonly row: number; readonly partValue: string | null },
  ): void {
    const statistics = this.#statistics[groupIndex];
    const group = this.#groups[groupIndex];
    if (statistics === undefined || group === undefined) throw new RangeError(`there is no group ${groupIndex}`);
    const ordinal = statistics.rowCount;
    statistics.add(cells);
    for (const { position, top, sample } of this.#selected[groupIndex] ?? []) {
      const value = cells.values[position] ?? NaN;
      const candidate = this.#candidate;
      candidate.ordinal = ordinal;
      candidate.rowNumber = ordinal + this.#invalidRowCount + 1;
      candidate.reader = place.reader;
      candidate.row = place.row;
      top.add(value, candidate);
      sample.add(value, candidate);
    }
    if (this.#options.groupBy === undefined || !this.#isSummarizedByPart(groupIndex)) return;
    const part = this.#partOf(place.partValue);
    let partStatistics = part.statistics[groupIndex];
    if (partStatistics === undefined) {
      partStatistics = new GroupStatistics(this.#partGroup(groupIndex), PART_DETAILS[this.#partDetail]?.precision);
      part.statistics[groupIndex] = partStatistics;
    }
    this.#partDistributionCount += partStatistics.add(cells);
    this.#reducePartDetail();
  }

  /** @throws Fault `configuration_invalid` if a column of `by` is not in the file */
  summarize(): Omit<PlaceSummary, "rowCount" | "shownColumns"> {
    const groups = sortedGroups(this.#statistics);
    const series = this.#options.by.length === 0 ? this.#defaultSeries() : this.#requestedSeries(groups);
    const { groupBy } = this.#options;
    return {
      placeCount: placeCountOf(groups, this.#invalidRowCount),
      invalidRowCount: this.#invalidRowCount,
      invalidRows: this.#invalidRows,
      groups,
      series,
      partition:
        groupBy === undefined
          ? undefined
          : {
              column: groupBy,
              omitted: PART_DETAILS[this.#partDetail]?.omitted ?? [],
              parts: this.#summarizeParts(),
            },
    };
  }

  #summarizeParts() {
    return [...this.#parts]
      .toSorted(([a], [b]) => (a === null ? 1 : b === null ? -1 : a < b ? -1 : 1))
      .map(([value, { invalidRowCount, statistics }]) => {
        const kept = statistics.filter((_, groupIndex) => this.#isSummarizedByPart(groupIndex));
        const groups = sortedGroups(kept.filter((group) => group !== undefined));
        return { value, placeCount: placeCountOf(groups, invalidRowCount), invalidRowCount, groups };
      });
  }

  #thresholdsOf(hazard: HazardName, metric: SummaryMetric): readonly number[] {
    const ofMetric = (thresholds: readonly MetricThreshold[]): readonly number[] =>
      thresholds.filter((threshold) => threshold.metric === metric).map(({ value }) => value);
    const requested = ofMetric(this.#options.above);
    const values =
      requested.length > 0 || this.#stated?.isChange === true
        ? requested
        : ofMetric(impliedThresholds(hazard, this.#stated?.rules[hazard]));
    return [...new Set(values)].toSorted((a, b) => a - b);
  }

  /** Selects the columns of a new group whose places are listed. */
  #select(index: number, key: ScoreKey, present: readonly SummaryMetric[]): void {
    const { by } = this.#options;
    if (by.length > 0) {
      const names = by.filter((name) => scoreKeyText(name) === scoreKeyText(key) && present.includes(name.metric));
      this.#selected[index] = names.map((name) => this.#newSeries(name));
      return;
    }
    const metric = leadingMetric(key.hazard, present);
    if (metric === undefined) return;
    const previous = this.#groups.findIndex(
      (group, other) => group.key.hazard === key.hazard && (this.#selected[other]?.length ?? 0) > 0,
    );
    const previousKey = this.#groups[previous]?.key;
    if (previousKey !== undefined && compareKeys(key, previousKey) < 0) return;
    // The rows of a group only begin now, so none has been missed.
    if (previousKey !== undefined) this.#selected[previous] = [];
    this.#selected[index] = [this.#newSeries({ ...key, metric })];
  }

  #newSeries(name: SeriesName): SelectedSeries {
    const { topCount, sampleCount } = this.#options;
    const position = SUMMARY_METRICS.indexOf(name.metric);
    return { name, position, top: new TopPlaces(topCount), sample: new PlaceSample(sampleCount) };
  }

  #defaultSeries(): readonly SeriesPlaces[] {
    return this.#selected
      .flat()
      .map(toSeriesPlaces)
      .toSorted((a, b) => compareKeys(a, b));
  }

  #requestedSeries(groups: readonly GroupSummary[]): readonly SeriesPlaces[] {
    const selected = this.#selected.flat();
    return this.#options.by.map((requested) => {
      const text = `${scoreKeyText(requested)}.${requested.metric}`;
      const found = selected.find(({ name }) => `${scoreKeyText(name)}.${name.metric}` === text);
      if (found !== undefined) return toSeriesPlaces(found);
      // A long file without scores names no groups.
      if (groups.length === 0) return { ...requested, top: [], sample: [] };
      const known = groups.filter(({ hazard }) => hazard === requested.hazard);
      const names = known.flatMap((group) => group.metrics.map(({ metric }) => `${scoreKeyText(group)}.${metric}`));
      const offer = names.length === 0 ? `it has no values of ${requested.hazard}` : `it has ${names.join(", ")}`;
      throw new Fault("configuration_invalid", `The file has no values of ${text}: ${offer}.`);
    });
  }

  #partOf(value: string | null): Part {
    let part = this.#parts.get(value);
    if (part === undefined) {
      part = { invalidRowCount: 0, statistics: [] };
      this.#parts.set(value, part);
      if (this.#parts.size > PART_DISTRIBUTION_COUNT_MAX) throw this.#tooManyValues();
    }
    return part;
  }

  #isSummarizedByPart(groupIndex: number): boolean {
    return this.#partDetail === 0 || (this.#selected[groupIndex]?.length ?? 0) > 0;
  }

  /** Returns a group with the metrics that are summarized by part. */
  #partGroup(groupIndex: number): SummaryGroup {
    const group = this.#groups[groupIndex];
    if (group === undefined) throw new RangeError(`there is no group ${groupIndex}`);
    if (this.#partDetail === 0) return group;
    const positions = this.#selected[groupIndex]?.map(({ position }) => position) ?? [];
    return { key: group.key, metrics: group.metrics.filter(({ position }) => positions.includes(position)) };
  }

  /** Leaves out more of the parts until their distributions are not too many. */
  #reducePartDetail(): void {
    while (this.#partDistributionCount > (PART_DETAILS[this.#partDetail]?.distributionCountMax ?? Infinity)) {
      const detail = PART_DETAILS[++this.#partDetail];
      if (detail === undefined) throw this.#tooManyValues();
      const groups = this.#groups.map((_, groupIndex) => this.#partGroup(groupIndex));
      this.#partDistributionCount = 0;
      for (const { statistics } of this.#parts.values()) {
        for (const [groupIndex, group] of groups.entries()) {
          const reduced = statistics[groupIndex];
          if (reduced === undefined) continue;
          if (!this.#isSummarizedByPart(groupIndex)) statistics[groupIndex] = undefined;
          else reduced.reduce(group, detail.precision);
          this.#partDistributionCount += statistics[groupIndex]?.distributionCount ?? 0;
        }
      }
    }
  }

  #tooManyValues(): Fault {
    const message =
      `The column ${quote(this.#options.groupBy)} has too many different values (at least ${this.#parts.size}): values of ` +
      `the column x listed columns must be at most ${PART_DISTRIBUTION_COUNT_MAX}. ` +
      "Group by a column with fewer values, or list fewer columns with --by.";
    return new Fault("configuration_invalid", message);
  }
}

function toSeriesPlaces({ name, top, sample }: SelectedSeries): SeriesPlaces {
  return { ...name, top: top.places, sample: sample.places };
}

function sortedGroups(statistics: readonly GroupStatistics[]): readonly GroupSummary[] {
  return statistics.map((group) => group.summarize()).toSorted(compareKeys);
}

/** Compares by hazard, scenario and year, in the order of the documentation. */
function compareKeys(a: ScoreKey, b: ScoreKey): number {
  return (
    HAZARD_NAMES.indexOf(a.hazard) - HAZARD_NAMES.indexOf(b.hazard) ||
    SCENARIOS.indexOf(a.scenario) - SCENARIOS.indexOf(b.scenario) ||
    a.analysisYear - b.analysisYear
  );
}

function placeCountOf(groups: readonly GroupSummary[], invalidRowCount: number): number {
  return groups.reduce((count, { rowCount }) => Math.max(count, rowCount), 0) + invalidRowCount;
}
