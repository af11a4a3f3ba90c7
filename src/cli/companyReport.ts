import Table from "cli-table3";
import type { BeforeAfter, CompanyAnswer, CompanyResult, EmissionsFigure } from "../company/answer.ts";

/** An answer as somebody reads it who knows money but not the model. */
export function describeCompany(answer: CompanyAnswer): string {
  return `${[
    heading(answer),
    section("Emissions, t CO2e a year", emissionsTable(answer)),
    section("Losses a year", lossTable(answer)),
    section("What the losses come from", causeTable(answer)),
    section("Climate and carbon prices behind them", driverTable(answer)),
    section("Value of all losses from 2026 to 2050, and the chance of default within five years", valueTable(answer)),
    section("Debt, before and after the losses", creditTable(answer)),
    list(
      "To be wary of",
      answer.warnings.map(({ detail }) => detail),
    ),
    list(
      "How far to trust it (P published, M from memory, D derived, J judgement)",
      answer.data_quality.map(
        ({ output, mark, detail }) => `${mark === "reported" ? "-" : mark}  ${output}: ${detail}`,
      ),
    ),
    list("Taken for granted", answer.assumptions),
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
    "Money in real US dollars of 2025. Percent are of EBITDA" +
      `${worst?.total.measured_by === "ebitda" ? "" : ", for which 16% of revenue stands: there is none"}.`,
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
  return tableOf(["", "", "t CO2e", "may be", "PCAF score"], 2, [
    row("scope 1, direct", scope1),
    row("scope 2, bought energy", scope2),
    row("scope 3, upstream", scope3_upstream),
    row("scope 3, downstream", scope3_downstream),
    ...(financed === null ? [] : [row("scope 3, financed", financed)]),
  ]);
}

function place({ scenario, year }: CompanyResult): readonly string[] {
  return [scenario, String(year)];
}

function lossTable({ results }: CompanyAnswer): string {
  return tableOf(
    ["scenario", "year", "USD", "of EBITDA", "may be", "score", "rating", "transition", "physical"],
    1,
    results.map((result) => {
      const { total, transition, physical } = result;
      return [
        ...place(result),
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
    [
      "scenario",
      "year",
      "transition",
      ...(hasCredit ? ["loans"] : []),
      "heat",
      "damage",
      "outage",
      "counted twice",
      "notes",
    ],
    1,
    results.map((result) => {
      const { transition, physical, interaction, total } = result;
      const notes = [
        transition.note,
        total.note ?? (transition.capped ? `limited, from ${amount(transition.uncapped)}` : undefined),
        transition.volume_floor ? "volume at its floor" : undefined,
      ].filter((note) => note !== undefined);
      return [
        ...place(result),
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
    ["scenario", "year", "USD/t", "today's policies", "shock", "abated", "passed on", "volume", "world C", "here C"],
    1,
    results.map((result) => {
      const { drivers, transition } = result;
      return [
        ...place(result),
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
    ["scenario", "losses, USD", "of EBITDA's value", "assets after", "default before", "after"],
    1,
    valuation.map((value) => [
      value.scenario,
      amount(value.npv_of_losses),
      percent(value.value_at_risk_pct),
      amount(value.asset_value_after),
      chance(value.pd_5y_before),
      chance(value.pd_5y_after),
    ]),
  );
}

function creditTable({ results }: CompanyAnswer): string {
  return tableOf(
    ["scenario", "year", "debt / EBITDA", "EBITDA / interest"],
    1,
    results.map((result) => [
      ...place(result),
      beforeAfter(result.credit.debt_to_ebitda),
      beforeAfter(result.credit.interest_coverage),
    ]),
  );
}

function beforeAfter({ before, after }: BeforeAfter): string {
  const told = (value: number | null): string => (value === null ? "-" : value.toFixed(2));
  return `${told(before)} to ${told(after)}`;
}

const COMPACT = new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 4 });

function amount(value: number): string {
  return COMPACT.format(value + 0);
}

function percent(value: number | null): string {
  return value === null ? "-" : `${(value + 0).toFixed(1)}%`;
}

function chance(value: number | null): string {
  return value === null ? "-" : `${(100 * value).toPrecision(3)}%`;
}
