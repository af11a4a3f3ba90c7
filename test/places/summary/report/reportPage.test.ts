import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { reportPage } from "../../../../src/places/summary/report/reportPage.ts";
import { summarizeTable } from "../../../../src/places/summary/summarizePlaceFile.ts";
import { longRows, memoryTable, randomPlaces, type ScoredPlace } from "../randomScores.ts";
import { STATED_RUN } from "../statedRun.ts";

const OPTIONS = { above: [], topCount: 3, by: [], groupBy: "country", sampleCount: 100 };

async function reportOf(places: readonly ScoredPlace[], { hasRun = true, options = {} } = {}): Promise<string> {
  const columns = { id: "site", latitude: "latitude", longitude: "longitude" };
  const summary = await summarizeTable(memoryTable(longRows(places)), { ...OPTIONS, ...options }, { columns });
  const run = hasRun ? STATED_RUN : undefined;
  return reportPage(summary, { fileName: "scores & more.csv", run, reportedOn: "2026-01-31" });
}

const matchesOf = (page: string, pattern: RegExp): readonly string[] =>
  [...page.matchAll(pattern)].map(([, text = ""]) => text);

describe("report of a summary", () => {
  const places = randomPlaces(1, 120);

  test("allows only its own style sheet, and refers to nothing outside itself", async () => {
    const page = await reportOf(places);
    const [style = ""] = matchesOf(page, /<style>([\s\S]*?)<\/style>/g);
    const hash = createHash("sha256").update(style).digest("base64");
    const [policy] = matchesOf(page, /http-equiv="Content-Security-Policy"\s+content="([^"]*)"/g);
    expect(policy).toBe(
      `default-src &#39;none&#39;; style-src &#39;sha256-${hash}&#39;; base-uri &#39;none&#39;; form-action &#39;none&#39;`,
    );
    expect(page).not.toMatch(/<script|<link|<img|<iframe|@import|url\(|\sstyle="|\son\w+="/i);
    expect(new Set(matchesOf(page, /\s(?:href|src)="([^"]*)"/g))).toEqual(new Set(["#land"]));
  });

  test("escapes texts of the file and of its manifest", async () => {
    const page = await reportOf(places.map((place, i) => ({ ...place, site: `<b>"${i}"</b>`, country: "A & <B>" })));
    expect(page).not.toMatch(/<b>|<B>|<2026>/);
    expect(page).toContain("&lt;b&gt;&quot;");
    expect(page).toContain("A &amp; &lt;B&gt;");
    expect(page).toContain("sites &lt;2026&gt;.csv");
    expect(page).toContain("scores &amp; more.csv");
  });

  test("has a caption for every table, and a title and description for every chart and map", async () => {
    const page = await reportOf(places);
    expect(matchesOf(page, /(<table)/g).length).toBe(matchesOf(page, /(<caption>)/g).length);
    const labels = matchesOf(page, /aria-labelledby="([^"]*)"/g).flatMap((ids) => ids.split(" "));
    // Two hazards with two distributions and a share each, and a map each; a title and a description for all of them.
    expect(labels).toHaveLength(16);
    const ids = matchesOf(page, /\sid="([^"]*)"/g);
    expect(new Set(ids).size).toBe(ids.length);
    expect(labels.filter((label) => !ids.includes(label))).toEqual([]);
    expect(page).not.toMatch(/NaN|undefined|\[object/);
  });

  test("states what was scored", async () => {
    const page = (await reportOf(places)).replaceAll(/\s+/g, " ");
    expect(page).toContain("All values of this atlas are invented.");
    for (const text of [STATED_RUN.inputSha256, "Floods &amp; winds", "CC BY 4.0", "design_return_period_years 100"]) {
      expect(page).toContain(text);
    }
    const invalidCount = places.filter(({ error }) => error !== null).length;
    expect(page).toContain(`120, of which ${invalidCount} invalid`);
    expect(page).toContain("latitude must be between -90 and 90 (got 146)");
    expect(page).toMatch(/<details>\s*<summary>Invalid rows: [1-9]/);
    const bare = await reportOf(places, { hasRun: false });
    expect(bare).toContain("The file has no manifest");
    expect(bare).not.toContain("invented");
  });

  test("states how the places of a map were chosen", async () => {
    const validCount = places.filter(({ error }) => error === null).length;
    const all = (await reportOf(places, { options: { sampleCount: 1000 } })).replaceAll(/\s+/g, " ");
    expect(all).toContain(`The map shows all ${validCount} valid places.`);
    const page = (await reportOf(places)).replaceAll(/\s+/g, " ");
    expect(page).toContain(
      `The map shows 100 of ${validCount} places, chosen by a hash of their row number, and the places of the table.`,
    );
  });

  test("is complete without locations, without values and with a single place", async () => {
    const nowhere = await reportOf(
      places.map((place) => ({ ...place, latitude: NaN, longitude: NaN })).map(withoutLocation),
    );
    expect(nowhere).toContain("There are no maps, because the file has no locations.");
    expect(nowhere).not.toMatch(/NaN|undefined/);
    const single = await reportOf(places.filter(({ error }) => error === null).slice(0, 1));
    expect(single).toContain("<h1>Climate hazards of 1 place</h1>");
    expect(single).not.toMatch(/NaN|Infinity|undefined/);
    const missing = { status: "no_data", metrics: {}, bound: null } as const;
    const empty = await reportOf(places.map((place) => ({ ...place, scores: place.scores.map(() => missing) })));
    expect(empty).toContain("No place has a value above 0.");
    expect(empty).not.toMatch(/NaN|Infinity|undefined/);
  });
});

/** JSON has no NaN: a missing coordinate is an empty cell. */
function withoutLocation(place: ScoredPlace): ScoredPlace {
  return { ...place, latitude: null, longitude: null } as unknown as ScoredPlace;
}
