/** Plans the layers of return-period maps: by scenario, year and climate model, in ascending order of return period. */
import { type HazardName, HAZARDS, type Scenario } from "../../hazard/hazards.ts";
import { dryFilledRaster } from "../derivedRasters.ts";
import { type CurveSource, type GroupPlan, type HazardPlan, mapsOf } from "../plan.ts";
import { partsOf, type Raster, sourceFault } from "../raster.ts";
import { checkUnit } from "../units.ts";

/** A map of one return period that is not open yet. */
export interface ReturnPeriodMap {
  readonly scenario: Scenario;
  readonly year: number;
  /** The year that the map is for, if it is not `year`. */
  readonly epochYear?: number;
  /** "" if the product has only one. */
  readonly model: string;
  readonly returnPeriodYears: number;
  /** Multiplies the values of the map to give the unit of the hazard's own metric; undefined for 1. */
  readonly unitFactor?: number;
  open(): Promise<Raster>;
}

interface CurveOptions {
  readonly provenanceOf: (group: {
    readonly scenario: Scenario;
    readonly year: number;
  }) => Readonly<Record<string, unknown>>;
  readonly missingAsDry?: boolean | undefined;
}

/**
 * Opens the maps of a hazard and plans the groups to write.
 *
 * @param options `provenanceOf`: returns what the recipe states about a scenario and year; `missingAsDry`: a cell is dry on
 *   maps on which it is missing if it has a value on the map of the longest return period
 * @throws Fault `source_invalid` if a map is rejected, or if the models of a group have different return periods
 */
export async function planCurves(
  hazard: HazardName,
  maps: readonly ReturnPeriodMap[],
  { provenanceOf, missingAsDry = false }: CurveOptions,
): Promise<HazardPlan> {
  const spec = HAZARDS[hazard];
  const groups: GroupPlan[] = [];
  for (const scenario of spec.scenarios) {
    for (const year of spec.years) {
      const ofGroup = maps.filter((map) => map.scenario === scenario && map.year === year);
      if (ofGroup.length === 0) continue;
      const opened = await openCurves(hazard, ofGroup);
      const models = missingAsDry ? opened.map(dryFilled) : opened;
      checkSamePeriods(models, `${hazard} ${scenario} ${year}`);
      groups.push({
        scenario,
        year,
        ...(ofGroup[0]?.epochYear === undefined ? {} : { epochYear: ofGroup[0].epochYear }),
        content: { kind: "curves", models },
        provenance: { ...provenanceOf({ scenario, year }), ...(missingAsDry ? { missing_as_dry: true } : {}) },
      });
    }
  }
  return { hazard, rules: spec.rules, groups };
}

async function openCurves(hazard: HazardName, maps: readonly ReturnPeriodMap[]): Promise<readonly CurveSource[]> {
  const spec = HAZARDS[hazard];
  const unit = spec.metrics.find(({ metric }) => metric === spec.ownMetric)?.unit ?? "1";
  const curves: CurveSource[] = [];
  // Sorted by name, so that the rounding of the mean, which depends on the order of models, does not depend on the order of files.
  for (const model of [...new Set(maps.map((map) => map.model))].toSorted()) {
    const ascending = maps
      .filter((map) => map.model === model)
      .toSorted((a, b) => a.returnPeriodYears - b.returnPeriodYears);
    const opened = [];
    for (const map of ascending) {
      const raster = await map.open();
      for (const part of partsOf(raster))
        checkUnit(part, { band: 1, metric: spec.ownMetric, unit, unitFactor: map.unitFactor });
      opened.push({ raster, band: 1, unitFactor: map.unitFactor ?? 1, returnPeriodYears: map.returnPeriodYears });
    }
    curves.push({ model, maps: opened });
  }
  return curves;
}

/** Replaces missing cells by 0 if they have a value on the last map, which has the longest return period. */
function dryFilled(curve: CurveSource): CurveSource {
  const longest = curve.maps.at(-1);
  if (longest === undefined) return curve;
  const shorter = curve.maps.slice(0, -1).map((map) => ({ ...map, band: 1, raster: dryFilledRaster(map, longest) }));
  return { ...curve, maps: [...shorter, longest] };
}

/**
 * Checks that all models have the same return periods; otherwise their mean would be biased.
 * @param group name of the group, for the message
 * @throws Fault `source_invalid` naming the first model without a return period that another model has
 */
export function checkSamePeriods(models: readonly CurveSource[], group: string): void {
  const all = new Set(models.flatMap(({ maps }) => maps.map(({ returnPeriodYears }) => returnPeriodYears)));
  for (const { model, maps } of models) {
    const periodsOfModel = new Set(maps.map(({ returnPeriodYears }) => returnPeriodYears));
    const missing = [...all].filter((period) => !periodsOfModel.has(period)).toSorted((a, b) => a - b);
    if (missing.length === 0) continue;
    throw sourceFault(
      maps[0]?.raster.file ?? group,
      `model ${model} of ${group} lacks the maps of ${missing.join(", ")} years that other models have. Add them, or omit the model.`,
    );
  }
}

/** Largest distance from a multiple of the cell size, as a fraction of a cell. */
const TOLERANCE_CELLS = 0.01;

/**
 * Adds the registration of the maps of a plan to its provenance: whether centers or edges of cells are at multiples of the cell size.
 * @throws Fault `source_invalid` if two maps have different registrations
 */
export function withRegistration(plan: HazardPlan): HazardPlan {
  const registration = registrationOf(plan.groups.flatMap(mapsOf).flatMap(({ raster }) => partsOf(raster)));
  const groups = plan.groups.map((group) => ({ ...group, provenance: { ...group.provenance, registration } }));
  return { ...plan, groups };
}

function registrationOf(rasters: readonly Raster[]): string | undefined {
  const [first, ...others] = rasters;
  if (first === undefined) return undefined;
  const registration = describeRegistration(first);
  for (const other of others) {
    const found = describeRegistration(other);
    if (found === registration) continue;
    throw sourceFault(other.file, `has ${found}, but ${first.file} has ${registration}.`);
  }
  return registration;
}

function describeRegistration({ grid }: Raster): string {
  const { westDeg, northDeg, cellSizeLonDeg, cellSizeLatDeg } = grid;
  const sizeText = String(Number(cellSizeLonDeg.toPrecision(6)));
  const shifts = [westDeg / cellSizeLonDeg, northDeg / cellSizeLatDeg].map((edge) => edge - Math.floor(edge));
  const isNear = (target: number): boolean =>
    shifts.every((shift) => Math.min(Math.abs(shift - target), 1 - Math.abs(shift - target)) <= TOLERANCE_CELLS);
  if (isNear(0.5)) return `cell centers at multiples of ${sizeText} degrees`;
  if (isNear(0)) return `cell edges at multiples of ${sizeText} degrees`;
  return `cell edges at latitude ${northDeg} and longitude ${westDeg}`;
}
