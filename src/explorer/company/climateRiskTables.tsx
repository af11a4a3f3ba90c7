/** Tables of the climate-risk view, with the scenarios side by side. */
import type { ComponentChildren } from "preact";
import type { BeforeAfter, CompanyAnswer, CompanyResult, EmissionsFigure } from "../../contract/wireTypes.ts";
import {
  formatAmount,
  formatFigure,
  formatFraction,
  formatMoney,
  formatPercent,
  type MoneyScale,
  moneyScaleFor,
  transitionScenarioTitle,
} from "./companyFormat.ts";
import { markMeaning } from "./riskForm.ts";

interface ComparisonRow {
  readonly name: ComponentChildren;
  /** Explanation below the name. */
  readonly hint?: string | undefined;
  /** One for each column. */
  readonly cells: readonly string[];
  readonly isTotal?: boolean;
}

/** Rows under a common heading. */
interface ComparisonGroup {
  readonly heading?: string;
  readonly rows: readonly ComparisonRow[];
}

interface TableProps {
  readonly caption: string;
  readonly firstColumn: string;
  readonly columns: readonly string[];
  readonly groups: readonly ComparisonGroup[];
  /** Whether cells are broken on a narrow screen, so that the table fits. */
  readonly isWrapping?: boolean;
}

export function ComparisonTable({ caption, firstColumn, columns, groups, isWrapping = false }: TableProps) {
  return (
    <div class="table-scroll" role="region" aria-label={caption} tabIndex={0}>
      <table class={isWrapping ? "wrapping-table" : undefined}>
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th scope="col">{firstColumn}</th>
            {columns.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        {groups.map(({ heading, rows }, group) => (
          <tbody key={heading ?? group}>
            {heading === undefined ? null : (
              <tr class="group">
                <th scope="rowgroup" colSpan={columns.length + 1}>
                  {heading}
                </th>
              </tr>
            )}
            {rows.map(({ name, hint, cells, isTotal }, row) => (
              <tr key={row} class={isTotal === true ? "total" : undefined}>
                <th scope="row">
                  {name}
                  {hint === undefined ? null : <span class="hint"> {hint}</span>}
                </th>
                {cells.map((cell, column) => (
                  <td key={columns[column]} class={isSentence(cell) ? "text" : undefined}>
                    {cell}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        ))}
      </table>
    </div>
  );
}

/** Whether a cell is words, which are aligned at the start, and not a figure. */
function isSentence(cell: string): boolean {
  return /^[a-z]/i.test(cell) && cell.length > 3;
}

/** Returns the titles of the scenarios in the order of the response. */
function scenarioTitlesOf({ valuation }: CompanyAnswer): readonly string[] {
  return valuation.map(({ scenario }) => transitionScenarioTitle(scenario));
}

export function yearsOf({ results }: CompanyAnswer): readonly number[] {
  return [...new Set(results.map(({ year }) => year))];
}

/** Returns the results of a year, one for each scenario. */
export function resultsOfYear({ results }: CompanyAnswer, year: number): readonly CompanyResult[] {
  return results.filter((result) => result.year === year);
}

/** The losses of every scenario and year. */
export function LossTable({ answer }: { readonly answer: CompanyAnswer }) {
  const scale = moneyScaleFor(answer.results.map(({ total }) => total.loss));
  const row = (name: string, year: number, cell: (result: CompanyResult) => string): ComparisonRow => ({
    name,
    cells: resultsOfYear(answer, year).map(cell),
  });
  return (
    <ComparisonTable
      caption="Annual loss by scenario and year"
      firstColumn="Figure"
      columns={scenarioTitlesOf(answer)}
      groups={yearsOf(answer).map((year) => ({
        heading: String(year),
        rows: [
          row(`Loss, ${scale.name}${answer.units.money}`, year, ({ total }) => formatMoney(total.loss, scale)),
          row("Loss in percent of EBITDA", year, ({ total }) => formatPercent(total.pct_of_ebitda)),
          row(
            "Range over the sensitivity cases",
            year,
            ({ total }) => `${formatPercent(total.low)} to ${formatPercent(total.high)}`,
          ),
          row("Loss in percent of total assets", year, ({ total }) => formatPercent(total.pct_of_assets)),
          row("Score, 0 to 100", year, ({ total }) => formatFigure(total.score)),
          row("Rating, A to E", year, ({ total }) => total.rating),
        ],
      }))}
    />
  );
}

/** Effects on credit in a year, before and after the losses. */
export function CreditTable({ answer, year }: { readonly answer: CompanyAnswer; readonly year: number }) {
  const results = resultsOfYear(answer, year);
  const noDebt = answer.company.figures.total_debt === 0;
  const measure = (
    name: string,
    pick: (credit: CompanyResult["credit"]) => BeforeAfter | undefined,
    texts: { readonly format: (value: number) => string; readonly reason: string },
  ): ComparisonRow => ({
    name,
    cells: results.map(({ credit }) => {
      const pair = pick(credit);
      if (pair === undefined) return texts.reason;
      const [before, after] = [pair.before, pair.after].map((value) =>
        value === null ? undefined : texts.format(value),
      );
      if (before === undefined && after === undefined) return texts.reason;
      return `${before ?? `(${texts.reason})`} → ${after ?? `(${texts.reason})`}`;
    }),
  });
  const needsLiabilities = "needs total liabilities";
  const scale = moneyScaleFor(results.flatMap(({ credit }) => credit.expected_loss?.after ?? []));
  return (
    <ComparisonTable
      caption={`Credit if the loss of ${year} recurred every year: before → after`}
      firstColumn="Measure"
      columns={scenarioTitlesOf(answer)}
      groups={[
        {
          rows: [
            measure("Debt divided by EBITDA", (credit) => credit.debt_to_ebitda, {
              format: formatFigure,
              reason: "undefined, EBITDA is not above 0",
            }),
            measure("Interest coverage", (credit) => credit.interest_coverage, {
              format: formatFigure,
              reason: noDebt ? "undefined without debt" : "undefined, interest is too small",
            }),
            measure("Default within five years", (credit) => credit.pd_5y, {
              format: formatFraction,
              reason: needsLiabilities,
            }),
            measure("Default within one year", (credit) => credit.pd_1y, {
              format: formatFraction,
              reason: needsLiabilities,
            }),
            measure("Expected loss, basis points of the exposure", (credit) => credit.expected_loss_bp, {
              format: formatFigure,
              reason: needsLiabilities,
            }),
            ...(results.some(({ credit }) => credit.expected_loss !== undefined)
              ? [
                  measure(`Expected loss, ${scale.name}USD 2025`, (credit) => credit.expected_loss, {
                    format: (value) => formatMoney(value, scale),
                    reason: needsLiabilities,
                  }),
                ]
              : []),
          ],
        },
      ]}
    />
  );
}

/** Effects on the value of the company. */
export function ValueTable({ answer }: { readonly answer: CompanyAnswer }) {
  const { valuation } = answer;
  const scale: MoneyScale = moneyScaleFor(valuation.map(({ value_before }) => value_before));
  const money = (name: string, pick: (value: (typeof valuation)[number]) => number): ComparisonRow => ({
    name: `${name}, ${scale.name}USD 2025`,
    cells: valuation.map((value) => formatMoney(pick(value), scale)),
  });
  const chance = (value: number | null): string =>
    value === null ? "(needs total liabilities)" : formatFraction(value);
  return (
    <ComparisonTable
      caption="Value of the company: losses of 2026 to 2050"
      firstColumn="Figure"
      columns={scenarioTitlesOf(answer)}
      groups={[
        {
          rows: [
            money("Value before losses", ({ value_before }) => value_before),
            money("Discounted losses after tax", ({ npv_of_losses }) => npv_of_losses),
            money("Discounted losses without closures", ({ npv_uncapped }) => npv_uncapped),
            {
              name: "Value at risk",
              cells: valuation.map(({ value_at_risk_pct }) => formatPercent(value_at_risk_pct)),
            },
            money("Total assets after losses", ({ asset_value_after }) => asset_value_after),
            {
              name: "Default within five years: before → after",
              cells: valuation.map(
                ({ pd_5y_before, pd_5y_after }) => `${chance(pd_5y_before)} → ${chance(pd_5y_after)}`,
              ),
            },
          ],
        },
      ]}
    />
  );
}

/** What drives the losses of a year. */
export function DriverTable({ answer, year }: { readonly answer: CompanyAnswer; readonly year: number }) {
  const results = resultsOfYear(answer, year);
  const row = (name: string, cell: (result: CompanyResult) => string): ComparisonRow => ({
    name,
    cells: results.map(cell),
  });
  const perT = "USD of 2025 per t CO2e";
  return (
    <ComparisonTable
      caption={`What drives the losses of ${year}`}
      firstColumn="Driver"
      columns={scenarioTitlesOf(answer)}
      groups={[
        {
          rows: [
            row(`Carbon price, ${perT}`, ({ drivers }) => formatFigure(drivers.price)),
            row(`Carbon price under current policies, ${perT}`, ({ drivers }) => formatFigure(drivers.baseline_price)),
            row(`Price shock, ${perT}`, ({ drivers, transition }) =>
              transition.note === undefined
                ? formatFigure(drivers.price_shock)
                : `${formatFigure(drivers.price_shock)} (${transition.note})`,
            ),
            row("Model and region of the price", ({ drivers }) => `${drivers.price_model}, ${drivers.price_region}`),
            row("Emissions abated, scope 1", ({ drivers }) => formatFraction(drivers.abatement_share)),
            row("Costs passed on", ({ drivers }) => formatFraction(drivers.pass_through)),
            row("Volume of sales", ({ transition }) => formatFraction(transition.volume_change)),
            row("Global warming, °C", ({ drivers }) => formatFigure(drivers.gsat)),
            row("Mean temperature of the country, °C", ({ drivers }) => formatFigure(drivers.local_temperature)),
            row("Output lost to warming", ({ physical }) => formatFraction(physical.chronic.damage_fraction)),
            row("Average annual loss of capital, all hazards", ({ physical }) =>
              formatFraction(physical.acute.aal_fraction),
            ),
            row("River floods", ({ physical }) => hazardText(physical.acute.by_hazard.flood)),
            row("Wind", ({ physical }) => hazardText(physical.acute.by_hazard.wind)),
            row("Storm surge", ({ physical }) => hazardText(physical.acute.by_hazard.surge)),
            row("Score of transition risk, 0 to 100", ({ transition }) => formatFigure(transition.score)),
            row("Score of physical risk, 0 to 100", ({ physical }) => formatFigure(physical.score)),
          ],
        },
      ]}
    />
  );
}

/** Average annual loss to a hazard as a share of capital. */
function hazardText(fraction: number | null): string {
  return fraction === null ? "not in the source" : formatFraction(fraction);
}

const METHOD_NAMES = {
  modelled: "estimated",
  reported: "reported",
  split: "estimated from the reported total",
} as const;

/** The emissions that the losses are computed from. */
export function EmissionsTable({ answer: { emissions, units } }: { readonly answer: CompanyAnswer }) {
  const figures: readonly (readonly [string, EmissionsFigure | null])[] = [
    ["Scope 1", emissions.scope1],
    ["Scope 2", emissions.scope2],
    ["Scope 3, upstream", emissions.scope3_upstream],
    ["Scope 3, downstream", emissions.scope3_downstream],
    ["Financed emissions", emissions.financed],
  ];
  return (
    <ComparisonTable
      caption={`Emissions, ${units.emissions}`}
      firstColumn="Scope"
      columns={["Value", "Range", "Origin", "PCAF score, 1 to 5"]}
      isWrapping
      groups={[
        {
          rows: figures.flatMap(([name, figure]) =>
            figure === null
              ? []
              : [
                  {
                    name,
                    cells: [
                      formatAmount(figure.value),
                      `${formatAmount(figure.low)} to ${formatAmount(figure.high)}`,
                      METHOD_NAMES[figure.method],
                      String(figure.pcaf_score),
                    ],
                  },
                ],
          ),
        },
      ]}
    />
  );
}

export function QualityTable({ answer }: { readonly answer: CompanyAnswer }) {
  return (
    <ComparisonTable
      caption="Quality of the parts of the response, by their weakest input"
      firstColumn="Part"
      columns={["Mark", "Explanation"]}
      groups={[
        {
          rows: answer.data_quality.map(({ output, mark, detail }) => ({
            name: <code>{output}</code>,
            cells: [mark === "reported" ? markMeaning(mark) : `${mark}: ${markMeaning(mark)}`, detail],
          })),
        },
      ]}
    />
  );
}
