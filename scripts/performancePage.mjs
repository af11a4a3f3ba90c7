// Writes measured rows into docs/performance.md, as generated tables between pairs of marker comments.
import { readFile, writeFile } from "node:fs/promises";
import { format, resolveConfig } from "prettier";

const PAGE = "docs/performance.md";

/** Merges the rows of all starts of a benchmark: medians of the figures, with the target evaluated on the median. */
export function mediansOver(rows) {
  const groups = groupByName(rows);
  return [...groups.values()].map((group) => {
    const row = { ...group[0] };
    for (const figure of ["ours", "theirs", "ratio"]) {
      const values = group.map((one) => one[figure]).filter((value) => typeof value === "number");
      if (values.length > 0) row[figure] = median(values);
    }
    // A row from an earlier run may already cover several starts.
    const starts = group.reduce((sum, one) => sum + (one.starts ?? 1), 0);
    return { ...row, isMet: isTargetMet(row), starts };
  });
}

function keyOf({ bench, name, grid, state, against, unit }) {
  return JSON.stringify([bench, name, grid, state, against, unit]);
}

function groupByName(rows) {
  const groups = new Map();
  for (const row of rows) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row]);
  return groups;
}

function median(values) {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function isTargetMet({ target, ratio, ours }) {
  const match = /^([<>]=) (.+)$/.exec(target ?? "");
  const figure = ratio ?? ours;
  if (match === null || figure === undefined) return null;
  return match[1] === "<=" ? figure <= Number(match[2]) : figure >= Number(match[2]);
}

/** Replaces the tables of the benchmarks in `rows` and leaves the other tables unchanged. */
export async function fillPerformancePage(rows) {
  let page = await readFile(PAGE, "utf8");
  const benches = new Set(rows.map(({ bench }) => bench));
  for (const bench of benches) {
    const benchRows = rows.filter((row) => row.bench === bench);
    const pattern = new RegExp(`(<!-- measured: ${bench} -->\n)[\\s\\S]*?(<!-- end -->)`);
    if (!pattern.test(page)) {
      console.error(`${PAGE} has no section for ${bench} (<!-- measured: ${bench} -->); its rows are not written`);
      continue;
    }
    page = page.replace(pattern, (_, open, close) => `${open}\n${tableOf(benchRows)}\n\n${close}`);
  }
  const config = await resolveConfig(PAGE);
  await writeFile(PAGE, await format(page, { ...config, filepath: PAGE }));
}

function tableOf(rows) {
  const [{ machine, node }] = rows;
  const starts = Math.max(...rows.map((row) => row.starts ?? 1));
  const load = Math.max(...rows.map((row) => row.load ?? 0));
  const loadWarning =
    load > 1
      ? ` The load of the machine, including the benchmark, was up to ${load} per core: times may be inflated and ratios less stable.`
      : "";
  const times = starts === 1 ? "one start" : `medians over ${starts} starts`;
  const lines = rows.map(({ name, grid, state, against, ours, theirs, unit, ratio, target, isMet, note }) =>
    [
      name,
      [grid, state].filter((part) => part !== undefined).join(", "),
      against ?? "",
      ours === undefined ? "not measured" : `${short(ours)} ${unit}`,
      theirs === undefined ? "" : short(theirs),
      ratio === undefined ? "" : short(ratio),
      target ?? "",
      isMet === null ? "" : isMet ? "yes" : "**no**",
      note ?? "",
    ].join(" | "),
  );
  return [
    `${machine}, Node ${node}, ${times}.${loadWarning}`,
    "",
    "| measurement | grid, state | compared with | Isotherm | theirs | ratio | target | met | note |",
    "| --- | --- | --- | --: | --: | --: | --: | --- | --- |",
    ...lines.map((line) => `| ${line} |`),
  ].join("\n");
}

function short(value) {
  return Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)));
}
