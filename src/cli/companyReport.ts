import type {
  BeforeAfter,
  CompanyAnswer,
  CompanyAssumptions,
  CompanyResult,
  EmissionsFigure,
} from "../contract/wireTypes.ts";
import { formatTable } from "./textTable.ts";

/** Formats a result as a text report for readers with knowledge of finance but not of the model. */
export function describeCompany(answer: CompanyAnswer): string {
  return `${[
    reportHeading(answer),
    section("Emissions, t CO2e per year", emissionsTable(answer)),
    section("Losses per year", lossTable(answer)),
    section("Causes of the losses", causeTable(answer)),
    section("Climate and carbon prices", driverTable(answer)),
    section("Present value of all losses from 2026 to 2050, and probability of default", valueTable(answer)),
    section("Credit before and after the losses, as if those of the year lasted", creditTable(answer)),
    bulletList(
      "Warnings",
      answer.warnings.map(({ detail }) => detail),
    ),
    bulletList(
      "Data quality (P published, M from memory, D derived, J judgment)",
      answer.data_quality.map(
        ({ output, mark, detail }) => `${mark === "reported" ? "-" : mark}  ${output}: ${detail}`,
      ),
    ),
    bulletList("Assumptions", assumptionLines(answer.assumptions)),
    bulletList(
      "Sources",
      answer.sources.map(({ what, source, terms }) => `${what}: ${source} (${terms})`),
    ),
  ]
    .filter((part) => part !== "")
    .join("\n\n")}\n`;
}

function reportHeading({ company, headline, results, method_version }: CompanyAnswer): string {
  const { max, mean } = headline;
  const { country, industry, figures } = company;
  const worst = results.find(({ scenario, year }) => scenario === max.scenario && year === max.year);
  const basis =
    worst?.total.measured_by === "ebitda"
      ? ""
      : `; losses are measured by normal EBITDA, ${formatAmount(figures.normalized_ebitda)}`;
  return [
    `${company.name ?? "Company"}: ${industry.name}, ${country.name}`,
    `industry ${industry.id} (by ${industry.matched_on}), country ${country.iso3}, tier ${country.tier}; method version ${method_version}`,
    `Revenue ${formatAmount(figures.revenue)}, assets ${formatAmount(figures.total_assets)}, EBITDA ${formatAmount(figures.ebitda)}, debt ${formatAmount(figures.total_debt)}` +
      `${figures.estimated.length === 0 ? "" : `; estimated: ${figures.estimated.join(", ")}`}.`,
    `Money in real US dollars of 2025. Percentages are of EBITDA${basis}.`,
    "",
    `Worst: ${formatPercent(max.pct_of_ebitda)} in ${max.year} under ${max.scenario}, score ${max.score.toFixed(1)} of 100, rating ${worst?.total.rating}.`,
    `Mean over ${results.length} ${results.length === 1 ? "result" : "results"}: ${formatPercent(mean.pct_of_ebitda)}, score ${mean.score.toFixed(1)}.`,
  ].join("\n");
}

function assumptionLines(assumptions: CompanyAssumptions): readonly string[] {
  const { discount_rate, shock_year, pass_through, lgd, damage_function, iam } = assumptions;
  return [
    `discount rate ${formatPercent(100 * discount_rate)}, loss given default ${formatPercent(100 * lgd)}`,
    `carbon prices above current policies from ${shock_year}, NGFS prices of ${iam}`,
    `pass-through ${pass_through === null ? "of the industry, by year" : formatPercent(100 * pass_through)}`,
    `damage function ${damage_function}`,
  ];
}

function section(title: string, table: string): string {
  return `${title}\n${table}`;
}

function bulletList(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : `${title}\n${lines.map((line) => `- ${line}`).join("\n")}`;
}

function tableOf(head: readonly string[], textColumnCount: number, rows: readonly (readonly string[])[]): string {
  return formatTable({ head, rows, isNumeric: (column) => column >= textColumnCount });
}

function emissionsTable({ emissions }: CompanyAnswer): string {
  const { scope1, scope2, scope3_upstream, scope3_downstream, financed } = emissions;
  const row = (label: string, { value, low, high, method, pcaf_score }: EmissionsFigure): readonly string[] => [
    label,
    method,
    formatAmount(value),
    `${formatAmount(low)} to ${formatAmount(high)}`,
    String(pcaf_score),
  ];
  return tableOf(["", "", "t CO2e", "range", "PCAF score"], 2, [
    row("scope 1, direct", scope1),
    row("scope 2, purchased energy", scope2),
    row("scope 3, upstream", scope3_upstream),
    row("scope 3, downstream", scope3_downstream),
    ...(financed === null ? [] : [row("scope 3, financed", financed)]),
  ]);
}

function scenarioAndYear({ scenario, year }: CompanyResult): readonly string[] {
  return [scenario, String(year)];
}

function lossTable({ results }: CompanyAnswer): string {
  return tableOf(
    ["scenario", "year", "USD", "of EBITDA", "range", "loss ratio", "score", "rating", "transition", "physical"],
    1,
    results.map((result) => {
      const { total, transition, physical } = result;
      return [
        ...scenarioAndYear(result),
        formatAmount(total.loss),
        formatPercent(total.pct_of_ebitda),
        `${formatPercent(total.low)} to ${formatPercent(total.high)}`,
        total.loss_ratio.toPrecision(3),
        total.score.toFixed(1),
        total.rating,
        transition.score.toFixed(1),
        physical.score.toFixed(1),
      ];
    }),
  );
}

function causeTable({ results }: CompanyAnswer): string {
  const hasCredit = results.some(({ transition }) => transition.credit_loss > 0);
  return tableOf(
    ["scenario", "year", "transition", ...(hasCredit ? ["loans"] : []), "heat", "damage", "outage", "overlap", "notes"],
    1,
    results.map((result) => {
      const { transition, physical, interaction } = result;
      const notes = [
        transition.note,
        transition.capped ? `${formatAmount(transition.uncapped)} without closures` : undefined,
      ].filter((note) => note !== undefined);
      return [
        ...scenarioAndYear(result),
        formatAmount(transition.loss),
        ...(hasCredit ? [formatAmount(transition.credit_loss)] : []),
        formatAmount(physical.chronic.loss),
        formatAmount(physical.acute.asset_loss),
        formatAmount(physical.acute.interruption),
        formatAmount(interaction),
        notes.join("; "),
      ];
    }),
  );
}

function driverTable({ results }: CompanyAnswer): string {
  return tableOf(
    ["scenario", "year", "USD/t", "current policies", "shock", "abated", "passed on", "volume", "global C", "local C"],
    1,
    results.map((result) => {
      const { drivers, transition } = result;
      return [
        ...scenarioAndYear(result),
        drivers.price.toFixed(1),
        drivers.baseline_price.toFixed(1),
        drivers.price_shock.toFixed(1),
        formatPercent(100 * drivers.abatement_share),
        formatPercent(100 * drivers.pass_through),
        formatPercent(100 * transition.volume_change),
        drivers.gsat.toFixed(2),
        drivers.local_temperature.toFixed(2),
      ];
    }),
  );
}

function valueTable({ valuation }: CompanyAnswer): string {
  const hasExposure = valuation.some(({ expected_loss }) => expected_loss !== undefined);
  return tableOf(
    [
      "scenario",
      "losses, USD",
      "of value",
      "assets after",
      "PD in 5 years",
      "PD in 1 year",
      "expected loss, bp",
      ...(hasExposure ? ["expected loss, USD"] : []),
    ],
    1,
    valuation.map((value) => [
      value.scenario,
      formatAmount(value.npv_of_losses),
      formatPercent(value.value_at_risk_pct),
      formatAmount(value.asset_value_after),
      formatBeforeAfter({ before: value.pd_5y_before, after: value.pd_5y_after }, formatProbability),
      formatBeforeAfter(value.pd_1y, formatProbability),
      formatBeforeAfter(value.expected_loss_bp),
      ...(value.expected_loss === undefined ? [] : [formatBeforeAfter(value.expected_loss, formatAmount)]),
    ]),
  );
}

function creditTable({ results }: CompanyAnswer): string {
  return tableOf(
    ["scenario", "year", "debt / EBITDA", "EBITDA / interest", "PD in 5 years", "PD in 1 year"],
    1,
    results.map((result) => [
      ...scenarioAndYear(result),
      formatBeforeAfter(result.credit.debt_to_ebitda),
      formatBeforeAfter(result.credit.interest_coverage),
      formatBeforeAfter(result.credit.pd_5y, formatProbability),
      formatBeforeAfter(result.credit.pd_1y, formatProbability),
    ]),
  );
}

function formatBeforeAfter(
  { before, after }: BeforeAfter,
  format: (value: number) => string = (value) => value.toFixed(2),
): string {
  const orDash = (value: number | null): string => (value === null ? "-" : format(value));
  return `${orDash(before)} to ${orDash(after)}`;
}

const COMPACT_FORMAT = new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 4 });

function formatAmount(value: number): string {
  return COMPACT_FORMAT.format(value + 0);
}

function formatPercent(value: number): string {
  return `${(value + 0).toFixed(1)}%`;
}

function formatProbability(value: number): string {
  return `${(100 * value).toPrecision(3)}%`;
}
