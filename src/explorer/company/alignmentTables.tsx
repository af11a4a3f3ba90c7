/** Figures of the alignment view as tables, and the meaning of the flags. */
import type { AlignedYear, AlignmentFlag, AlignmentInclude, AlignmentResult } from "../../contract/wireTypes.ts";
import { withSign } from "../format.ts";
import { type AlignmentPathways, yearName } from "./alignmentSeries.ts";
import {
  FLAG_MEANINGS,
  formatAmount,
  formatFigure,
  formatFraction,
  formatPercent,
  formatTemperature,
  formatTemperatureRange,
  REASON_MEANINGS,
} from "./companyFormat.ts";

export function TemperatureTable({
  result,
  include,
}: {
  readonly result: AlignmentResult;
  readonly include: readonly AlignmentInclude[];
}) {
  const { overall, data, blended = [] } = result;
  const has = (name: AlignmentInclude): boolean => include.includes(name);
  const rest = (has("climate_range") ? 1 : 0) + (has("by_scope") ? 2 : 0) + (has("budget") ? 1 : 0) + 1;
  return (
    <div class="table-scroll" role="region" aria-label="Temperatures by year" tabIndex={0}>
      <table>
        <caption>Temperatures by year, °C</caption>
        <thead>
          <tr>
            <th scope="col">Year</th>
            <th scope="col">Temperature</th>
            <th scope="col">Range</th>
            {has("climate_range") ? <th scope="col">Climate range</th> : null}
            {has("by_scope") ? (
              <>
                <th scope="col">Scopes 1 and 2</th>
                <th scope="col">Scope 3</th>
              </>
            ) : null}
            {has("budget") ? <th scope="col">Over budget</th> : null}
            <th scope="col" class="text">
              Flags
            </th>
          </tr>
        </thead>
        <tbody>
          {data.map((year, index) => (
            <tr key={index} data-year={year.year}>
              <th scope="row">{yearName(year)}</th>
              {year.temperature_alignment === null ? (
                <td colSpan={2} class="text">
                  {year.reason === undefined ? "no temperature" : REASON_MEANINGS[year.reason]}
                </td>
              ) : (
                <>
                  <td class="temperature">{formatTemperature(year.temperature_alignment)}</td>
                  <td>{year.range === undefined ? "no range" : formatTemperatureRange(year.range)}</td>
                </>
              )}
              {has("climate_range") ? (
                <td>
                  {year.climate_range === undefined ? "no temperature" : formatTemperatureRange(year.climate_range)}
                </td>
              ) : null}
              {has("by_scope") ? (
                <>
                  <td>{temperatureOrReason(year.by_scope?.s1s2)}</td>
                  <td>{temperatureOrReason(year.by_scope?.s3)}</td>
                </>
              ) : null}
              {has("budget") ? <td>{overshootText(year.budget?.overshoot_pct)}</td> : null}
              <td class="text flags">
                {year.flags?.join(", ") ?? "none"}
                {year.coverage === undefined ? "" : `; covers ${formatFraction(year.coverage)} of the emissions`}
              </td>
            </tr>
          ))}
          {blended.map(({ year, temperature_alignment, range }) => (
            <tr key={`blended ${year}`} class="mean">
              <th scope="row">{year}, mean of labels</th>
              <td>{formatTemperature(temperature_alignment)}</td>
              <td>{formatTemperatureRange(range)}</td>
              <td colSpan={rest} class="text">
                mean over the labels, weighted by their probability
              </td>
            </tr>
          ))}
          {overall === undefined || overall === null ? null : (
            <tr class="mean">
              <th scope="row">All years</th>
              <td class="temperature">{formatTemperature(overall.temperature_alignment)}</td>
              <td>{formatTemperatureRange(overall.range)}</td>
              <td colSpan={rest} class="text">
                mean of {overall.years === 1 ? "1 year" : `${overall.years} years`}, weighted by how far apart the
                scenarios are
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}

function temperatureOrReason(temperatureC: number | null | undefined): string {
  return temperatureC === null || temperatureC === undefined ? "no usable scope" : formatTemperature(temperatureC);
}

function overshootText(percent: number | null | undefined): string {
  if (percent === undefined) return "no budget";
  return percent === null ? "nothing allowed" : withSign(formatPercent(percent), percent);
}

/** The flags of the entity and of the years, with their meaning. */
export function FlagList({ result: { flags: entityFlags = [], data } }: { readonly result: AlignmentResult }) {
  const years = new Map<AlignmentFlag, string[]>();
  for (const year of data) {
    for (const flag of year.flags ?? []) years.set(flag, [...(years.get(flag) ?? []), yearName(year)]);
  }
  if (entityFlags.length === 0 && years.size === 0) return null;
  return (
    <section class="flag-list">
      <h3>What the flags mean</h3>
      <dl>
        {entityFlags.map((flag) => (
          <FlagMeaning key={flag} flag={flag} where="the company" />
        ))}
        {[...years].map(([flag, names]) => (
          <FlagMeaning key={flag} flag={flag} where={names.length === data.length ? "all years" : names.join("; ")} />
        ))}
      </dl>
    </section>
  );
}

function FlagMeaning({ flag, where }: { readonly flag: AlignmentFlag; readonly where: string }) {
  return (
    <>
      <dt>
        <code>{flag}</code> <span class="hint">({where})</span>
      </dt>
      <dd>{FLAG_MEANINGS[flag]}</dd>
    </>
  );
}

export function BudgetTable({ data }: { readonly data: readonly AlignedYear[] }) {
  const rows = data.flatMap((year) => (year.detail?.budget ?? []).map((budget) => ({ year, budget })));
  if (rows.length === 0) return <p>There is no emissions budget, because the company has no usable emissions.</p>;
  return (
    <details>
      <summary>Emissions budgets against all scenarios</summary>
      <div class="table-scroll" role="region" aria-label="Emissions budgets" tabIndex={0}>
        <table>
          <caption>Sums of the years after the baseline up to the year, in the unit of the emissions</caption>
          <thead>
            <tr>
              <th scope="col">Up to</th>
              <th scope="col">Scenario</th>
              <th scope="col">Allowed</th>
              <th scope="col">Projected</th>
              <th scope="col">Over budget</th>
              <th scope="col">In percent</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ year, budget: { scenario, allowed, projected, overshoot, overshoot_pct } }) => (
              <tr key={`${yearName(year)} ${scenario}`}>
                <th scope="row">{yearName(year)}</th>
                <td class="text">{scenario}</td>
                <td>{formatAmount(allowed)}</td>
                <td>{formatAmount(projected)}</td>
                <td>{withSign(formatAmount(overshoot), overshoot)}</td>
                <td>{overshootText(overshoot_pct)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

/** The figures of the pathway chart. */
export function PathwayTable({ pathways: { scenarios, company } }: { readonly pathways: AlignmentPathways }) {
  const points = company.flatMap(({ label, points: line }) => line.slice(1).map((point) => ({ label, ...point })));
  if (points.length === 0) return null;
  return (
    <details>
      <summary>Figures of the pathway chart</summary>
      <div class="table-scroll" role="region" aria-label="Figures of the pathway chart" tabIndex={0}>
        <table>
          <caption>Relative to the baseline year, which is 1</caption>
          <thead>
            <tr>
              <th scope="col">Year</th>
              <th scope="col">Company</th>
              {scenarios.map(({ scenario }) => (
                <th key={scenario} scope="col">
                  {scenario}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {points.map(({ label, year, ratio, projectedYear }) => (
              <tr key={`${label ?? ""} ${projectedYear}`}>
                <th scope="row">
                  {label === undefined ? year : `${year}, ${label}`}
                  {projectedYear === year ? "" : `, extrapolated from ${projectedYear}`}
                </th>
                <td>{formatFigure(ratio)}</td>
                {scenarios.map(({ scenario, points: line }) => {
                  const at = line.find((point) => point.year === year);
                  return <td key={scenario}>{at === undefined ? "not computed" : formatFigure(at.ratio)}</td>;
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
