import { createHash } from "node:crypto";
import { html, joinMarkup, type Markup } from "../../../text/markup.ts";
import type { PlaceSummary } from "../placeSummary.ts";
import type { StatedRun } from "../statedRun.ts";
import { largestQuantileError } from "../summaryFigures.ts";
import { hazardSection } from "./hazardSection.ts";
import { partitionSection, placesSection } from "./placesSection.ts";
import { formatCount } from "./reportNumbers.ts";
import { REPORT_STYLE } from "./reportStyle.ts";
import { scoredSection } from "./scoredSection.ts";

export interface ReportContext {
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
