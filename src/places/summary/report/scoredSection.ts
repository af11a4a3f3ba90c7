import { html, joinMarkup, type Markup } from "../../../text/markup.ts";
import { SCORE_STATUSES } from "../../../hazard/scoring/scoreRequest.ts";
import type { PlaceSummary } from "../placeSummary.ts";
import type { StatedRun } from "../statedRun.ts";
import { formatCount, formatShare } from "./reportNumbers.ts";
import { table } from "./reportTable.ts";

/** Returns the section that says what was scored, with which data and which result. */
export function scoredSection(
  summary: PlaceSummary,
  {
    fileName,
    run,
    reportedOn,
  }: { readonly fileName: string; readonly run: StatedRun | undefined; readonly reportedOn: string },
): Markup {
  const facts: readonly (readonly [string, Markup])[] = [
    ["Scores", html`<code>${fileName}</code>`],
    ["Places", html`${formatCount(summary.placeCount)}, of which ${formatCount(summary.invalidRowCount)} invalid`],
    ...(run === undefined ? [] : runFacts(run)),
    ["Report", html`${reportedOn}`],
  ];
  return html`<h2>What was scored</h2>
    <dl>
      ${joinMarkup(
        facts.map(
          ([name, value]) =>
            html`<dt>${name}</dt>
              <dd>${value}</dd>`,
        ),
      )}
    </dl>
    ${run === undefined ? html`<p class="note">The file has no manifest that states its input, atlas and sources.</p>` : sourcesAndRules(run)}
    ${statusTable(summary)} ${invalidRows(summary)}`;
}

function runFacts(run: StatedRun): readonly (readonly [string, Markup])[] {
  return [
    ["Input", html`<code>${run.inputFile}</code>, SHA-256 <code>${run.inputSha256}</code>`],
    ["Options", html`<code>${JSON.stringify(run.options)}</code>`],
    ["Atlas", html`release <code>${run.release}</code>, content <code>${run.contentHash}</code>`],
    ["Program", html`isotherm ${run.programVersion}`],
  ];
}

function sourcesAndRules({ sources, rules }: StatedRun): Markup {
  return joinMarkup([
    table({
      caption: "Sources of the hazard data and their licenses",
      head: ["source", "license", "credit", "hazards"],
      textColumns: 4,
      rows: sources.map(({ name, license, credit, hazards }) => [
        name,
        license ?? "not stated",
        credit ?? "",
        hazards.join(", "),
      ]),
    }),
    table({
      caption: "Rules that define the metrics",
      head: ["hazard", "rules"],
      textColumns: 2,
      rows: Object.entries(rules).map(([hazard, stated]) => [
        hazard,
        Object.entries(stated)
          .map(([name, value]) => `${name} ${String(value)}`)
          .join(", "),
      ]),
    }),
  ]);
}

/** Counts the statuses of all scenarios and years of each hazard. */
function statusTable({ groups }: PlaceSummary): Markup {
  const hazards = [...new Set(groups.map(({ hazard }) => hazard))];
  return table({
    caption: "Statuses of the results of each hazard, over all scenarios and years",
    head: ["hazard", "results", ...SCORE_STATUSES],
    textColumns: 1,
    rows: hazards.map((hazard) => {
      const own = groups.filter((group) => group.hazard === hazard);
      const total = own.reduce((count, { rowCount }) => count + rowCount, 0);
      return [
        hazard,
        formatCount(total),
        ...SCORE_STATUSES.map((_, status) => {
          const count = own.reduce((sum, { statusCounts }) => sum + (statusCounts[status] ?? 0), 0);
          return count === 0 ? "0" : `${formatCount(count)} (${formatShare(count, total)})`;
        }),
      ];
    }),
  });
}

function invalidRows({ invalidRows: rows, invalidRowCount, shownColumns }: PlaceSummary): Markup {
  if (invalidRowCount === 0) return html``;
  const which = rows.length < invalidRowCount ? `the first ${rows.length} of ${formatCount(invalidRowCount)}` : "all";
  const list = table({
    caption: `Invalid rows, which have no scores (${which})`,
    head: ["place", ...shownColumns, "reason"],
    textColumns: 2 + shownColumns.length,
    rows: rows.map(({ id, shown, error }) => [id ?? "-", ...shown.map((cell) => cell ?? ""), error]),
  });
  return html`<details>
    <summary>Invalid rows: ${formatCount(invalidRowCount)}</summary>
    ${list}
  </details>`;
}
