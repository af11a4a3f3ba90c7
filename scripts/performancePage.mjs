// Puts measured rows into docs/performance.md: between a pair of comments a table stands that nobody types.
import { readFile, writeFile } from "node:fs/promises";
import { format, resolveConfig } from "prettier";

const PAGE = "docs/performance.md";

/** One row for all starts of a bench: medians of its figures; the mark is judged anew. */
export function mediansOver(rows) {
  const byName = grouped(rows);
  return [...byName.values()].map((alike) => {
    const row = { ...alike[0] };
    for (const figure of ["ours", "rival", "ratio"]) {
      const values = alike.map((one) => one[figure]).filter((value) => typeof value === "number");
      if (values.length > 0) row[figure] = median(values);
    }
    // A row may itself be of several starts: one that an earlier run printed.
    const starts = alike.reduce((sum, one) => sum + (one.starts ?? 1), 0);
    return { ...row, reached: judge(row), starts };
  });
}

function nameOf({ bench, name, grid, state, against, unit }) {
  return JSON.stringify([bench, name, grid, state, against, unit]);
}

function grouped(rows) {
  const groups = new Map();
  for (const row of rows) groups.set(nameOf(row), [...(groups.get(nameOf(row)) ?? []), row]);
  return groups;
}

function median(values) {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function judge({ mark, ratio, ours }) {
  const found = /^([<>]=) (.+)$/.exec(mark ?? "");
  const figure = ratio ?? ours;
  if (found === null || figure === undefined) return null;
  return found[1] === "<=" ? figure <= Number(found[2]) : figure >= Number(found[2]);
}

/** Replaces the tables of the benches that `rows` has; those of others stay as they are. */
export async function fillPerformancePage(rows) {
  let page = await readFile(PAGE, "utf8");
  const benches = new Set(rows.map(({ bench }) => bench));
  for (const bench of benches) {
    const own = rows.filter((row) => row.bench === bench);
    const pattern = new RegExp(`(<!-- measured: ${bench} -->\n)[\\s\\S]*?(<!-- end -->)`);
    if (!pattern.test(page)) {
      console.error(`${PAGE} has no place for ${bench} (<!-- measured: ${bench} -->): its rows are left out.`);
      continue;
    }
    page = page.replace(pattern, (_, open, close) => `${open}\n${section(own)}\n\n${close}`);
  }
  const config = await resolveConfig(PAGE);
  await writeFile(PAGE, await format(page, { ...config, filepath: PAGE }));
}

function section(rows) {
  const [{ machine, node }] = rows;
  const starts = Math.max(...rows.map((row) => row.starts ?? 1));
  const load = Math.max(...rows.map((row) => row.load ?? 0));
  const loaded =
    load > 1 ? ` The machine had other work, ${load} for each core: times are inflated, ratios unsteady.` : "";
  const times = starts === 1 ? "one start" : `medians over ${starts} starts`;
  const lines = rows.map(({ name, grid, state, against, ours, rival, unit, ratio, mark, reached, note }) =>
    [
      name,
      [grid, state].filter((word) => word !== undefined).join(", "),
      against ?? "",
      ours === undefined ? "not measured" : `${short(ours)} ${unit}`,
      rival === undefined ? "" : short(rival),
      ratio === undefined ? "" : short(ratio),
      mark ?? "",
      reached === null ? "" : reached ? "yes" : "**no**",
      note ?? "",
    ].join(" | "),
  );
  return [
    `${machine}, Node ${node}, ${times}.${loaded}`,
    "",
    "| what | grid, state | against | ours | theirs | ratio | mark | reached | note |",
    "| --- | --- | --- | --: | --: | --: | --: | --- | --- |",
    ...lines.map((line) => `| ${line} |`),
  ].join("\n");
}

function short(value) {
  return Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)));
}
