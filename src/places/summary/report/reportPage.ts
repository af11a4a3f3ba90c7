import { createHash } from "node:crypto";
import { html, joinMarkup, type Markup } from "../../../text/markup.ts";
import { largestQuantileError, type PlaceSummary } from "../placeSummary.ts";
import type { StatedRun } from "../statedRun.ts";
import { hazardSection } from "./hazardSection.ts";
import { partitionSection, placesSection } from "./placesSection.ts";
import { formatCount, formatShare, REPORT_STYLE, table } from "./reportHtml.ts";
import { SCORE_STATUSES } from "../../../hazard/scoring/scoreRequest.ts";

interface ReportContext {
  /** Name of the summarized file. */
  readonly fileName: string;
  /** Undefined if the file has no manifest. */
  readonly run: StatedRun | undefined;
  /** Date of the report, as YYYY-MM-DD. */
  readonly reportedOn: string;
}

/** Allows only the style sheet of the page: no scripts, images, fonts or requests. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(REPORT_STYLE).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/** The policy contains the hash of the style, so the element must not contain any other character. */
const STYLE_ELEMENT: Markup = { html: `<style>${REPORT_STYLE}</style>` };

/** Returns a summary as a page that needs no other file. */
export function reportPage(summary: PlaceSummary, context: ReportContext): string {
  const hazards = [...new Set(summary.groups.map(({ hazard }) => hazard))];
  const title = `Climate hazards of ${formatCount(summary.placeCount)} ${summary.placeCount === 1 ? "place" : "places"}`;
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${POLICY}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="no-referrer" />
        <title>${title}</title>
        ${STYLE_ELEMENT}
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          ${
            context.run?.isSynthetic === true
              ? html`<p class="warning">All values of this atlas are invented. Do not base decisions on them.</p>`
              : html``
          }
          ${
            context.run?.options["anthropogenic"] === true
              ? html`<p>All values are changes since the baseline.</p>`
              : html``
          }
          ${scoredSection(summary, context)} ${placesSection(summary)}
          ${joinMarkup(
            hazards.map((hazard) =>
              hazardSection(
                hazard,
                summary.groups.filter((group) => group.hazard === hazard),
              ),
            ),
          )}
          ${summary.partition === undefined ? html`` : partitionSection(summary.partition, summary.series)}
          ${notes(summary)}
        </main>
      </body>
    </html> `;
  return page.html;
}

function notes(summary: PlaceSummary): Markup {
  const error = largestQuantileError(summary);
  const accuracy =
    error === 0
      ? "Quantiles are exact."
      : `Quantiles of metrics with many different values are within ${(100 * error).toPrecision(2)} % of the exact value.`;
  return html`<h2>Notes</h2>
    <ul>
      <li>Statistics are over the places that have a value, including 0. Each place counts once.</li>
      <li>
        A quantile is the smallest value such that at least that share of the places has no larger one. ${accuracy}
      </li>
      <li>
        The default thresholds are those of the rules of the hazards: the threshold of the probability, in the hazard's
        own metric and as intensity, and the probability of the design return period.
      </li>
      <li>
        A probability beyond the return periods of the source maps is counted with the limit that they resolve, or with
        0 below it.
      </li>
    </ul>`;
}

/** Returns the section that says what was scored, with which data and which result. */
function scoredSection(
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
