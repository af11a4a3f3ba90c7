import Table from "cli-table3";
import type { BeforeAfter, CompanyAnswer, CompanyResult, EmissionsFigure } from "../company/answer.ts";

/** Formats a result as a text report for readers who know finance but not the model. */
export function describeCompany(answer: CompanyAnswer): string {
  return `${[
    heading(answer),
    section("Emissions, t CO2e per year", emissionsTable(answer)),
    section("Losses per year", lossTable(answer)),
    section("Causes of the losses", causeTable(answer)),
    section("Climate and carbon prices", driverTable(answer)),
    section(
      "Present value of all losses from 2026 to 2050, and probability of default within five years",
      valueTable(answer),
    ),
    section("Debt ratios before and after the losses", creditTable(answer)),
    list(
      "Warnings",
      answer.warnings.map(({ detail }) => detail),
    ),
    list(
      "Data quality (P published, M from memory, D derived, J judgment)",
      answer.data_quality.map(
        ({ output, mark, detail }) => `${mark === "reported" ? "-" : mark}  ${output}: ${detail}`,
      ),
    ),
    list("Assumptions", answer.assumptions),
    list(
      "Sources",
      answer.sources.map(({ what, source, terms }) => `${what}: ${source} (${terms})`),
    ),
  ]
    .filter((part) => part !== "")
    .join("\n\n")}\n`;
}

function heading({ company, headline, results, method_version }: CompanyAnswer): string {
  const { max, mean } = headline;
  const { country, industry } = company;
  const worst = results.find(({ scenario, year }) => scenario === max.scenario && year === max.year);
  return [
    `${company.name ?? "Company"}: ${industry.name}, ${country.name}`,
    `industry ${industry.id} (by ${industry.matched_on}), country ${country.iso3}, tier ${country.tier}; ${method_version}`,
    "Money in real US dollars of 2025. Percentages are of EBITDA" +
      `${worst?.total.measured_by === "ebitda" ? "" : "; because EBITDA is not positive, 16% of revenue is used instead"}.`,
    "",
    `Worst: ${percent(max.pct_of_ebitda)} in ${max.year} under ${max.scenario}, score ${max.score.toFixed(1)} of 100, rating ${worst?.total.rating}.`,
    `Mean over ${results.length} ${results.length === 1 ? "result" : "results"}: ${percent(mean.pct_of_ebitda)}, score ${mean.score.toFixed(1)}.`,
  ].join("\n");
}

function section(title: string, table: string): string {
  return `${title}\n${table}`;
}

function list(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : `${title}\n${lines.map((line) => `- ${line}`).join("\n")}`;
}

function tableOf(head: readonly string[], textColumnCount: number, rows: readonly (readonly string[])[]): string {
  const table = new Table({
    head: [...head],
    colAligns: head.map((_, column) => (column < textColumnCount ? "left" : "right")),
    style: { head: [], border: [], compact: true },
  });
  table.push(...rows.map((row) => [...row]));
  return table.toString();
}

function emissionsTable({ emissions }: CompanyAnswer): string {
  const { scope1, scope2, scope3_upstream, scope3_downstream, financed } = emissions;
  const row = (what: string, { value, low, high, method, pcaf_score }: EmissionsFigure): readonly string[] => [
    what,
    method,
    amount(value),
    `${amount(low)} to ${amount(high)}`,
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
    ["scenario", "year", "USD", "of EBITDA", "range", "score", "rating", "transition", "physical"],
    1,
    results.map((result) => {
      const { total, transition, physical } = result;
      return [
        ...scenarioAndYear(result),
        amount(total.loss),
        percent(total.pct_of_ebitda),
        `${percent(total.low)} to ${percent(total.high)}`,
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
      const { transition, physical, interaction, total } = result;
      const notes = [
        transition.note,
        total.note ?? (transition.capped ? `capped, was ${amount(transition.uncapped)}` : undefined),
        transition.volume_floor ? "volume at its minimum" : undefined,
      ].filter((note) => note !== undefined);
      return [
        ...scenarioAndYear(result),
        amount(transition.loss),
        ...(hasCredit ? [amount(transition.credit_loss)] : []),
        amount(physical.chronic.loss),
        amount(physical.acute.asset_loss),
        amount(physical.acute.interruption),
        amount(interaction),
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
        percent(100 * drivers.abatement_share),
        percent(100 * drivers.pass_through),
        percent(100 * transition.volume_change),
        drivers.gsat.toFixed(2),
        drivers.local_temperature.toFixed(2),
      ];
    }),
  );
}

function valueTable({ valuation }: CompanyAnswer): string {
  return tableOf(
    ["scenario", "losses, USD", "of EBITDA's value", "assets after", "PD before", "PD after"],
    1,
    valuation.map((value) => [
      value.scenario,
      amount(value.npv_of_losses),
      percent(value.value_at_risk_pct),
      amount(value.asset_value_after),
      probability(value.pd_5y_before),
      probability(value.pd_5y_after),
    ]),
  );
}

function creditTable({ results }: CompanyAnswer): string {
  return tableOf(
    ["scenario", "year", "debt / EBITDA", "EBITDA / interest"],
    1,
    results.map((result) => [
      ...scenarioAndYear(result),
      beforeAfter(result.credit.debt_to_ebitda),
      beforeAfter(result.credit.interest_coverage),
    ]),
  );
}

function beforeAfter({ before, after }: BeforeAfter): string {
  const format = (value: number | null): string => (value === null ? "-" : value.toFixed(2));
  return `${format(before)} to ${format(after)}`;
}

const COMPACT = new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 4 });

function amount(value: number): string {
  return COMPACT.format(value + 0);
}

function percent(value: number | null): string {
  return value === null ? "-" : `${(value + 0).toFixed(1)}%`;
}

function probability(value: number | null): string {
  return value === null ? "-" : `${(100 * value).toPrecision(3)}%`;
}
