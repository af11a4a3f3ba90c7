// Draws docs/methods/alignment.svg, the temperature at each intensity by pathway and year, from the output of dist/.
// Run it after a build when the benchmark pathways or the method have changed.
import { writeFile } from "node:fs/promises";
import { alignColumns, NGFS_PHASE5, NO_GROWTH_SERIES, PATHWAY_INDEX } from "../dist/index.js";

const YEARS = [2030, 2035, 2040, 2045, 2050, 2060];
/** From near to far, dark to light; distinguishable in grayscale. */
const COLORS = ["#08306b", "#1561a9", "#2f8fbf", "#3aaf85", "#9bbf3b", "#e3a018"];
const RATIO_MAX = 1.6;
const POINT_COUNT = 321;
const TEMPERATURES_C = [1.3, 4.3];

const PANEL = { width: 270, height: 190, left: 46, top: 62, gapX: 44, gapY: 62 };
const COLUMN_COUNT = 3;

/** Temperatures of entities with scope 1 only, baseline 2025, at ratios from 0 to RATIO_MAX. */
async function curve(pathway, year) {
  const column = (value) => Float64Array.from({ length: POINT_COUNT }, value);
  const { temperaturesC } = await alignColumns({
    baselineYears: new Int32Array(POINT_COUNT).fill(2025),
    pathways: new Uint8Array(POINT_COUNT).fill(PATHWAY_INDEX[pathway]),
    growthSeries: new Uint8Array(POINT_COUNT).fill(NO_GROWTH_SERIES),
    baselineScope1: column(() => 1000),
    baselineScope2: column(() => NaN),
    baselineScope3: column(() => NaN),
    starts: Uint32Array.from({ length: POINT_COUNT + 1 }, (_, i) => i),
    years: new Int32Array(POINT_COUNT).fill(year),
    scope1: column((_, i) => (1000 * RATIO_MAX * i) / (POINT_COUNT - 1)),
    scope2: column(() => NaN),
    scope3: column(() => NaN),
  });
  return [...temperaturesC];
}

const [lowC, highC] = TEMPERATURES_C;
const xOf = (ratio) => (ratio / RATIO_MAX) * PANEL.width;
const yOf = (temperatureC) => PANEL.height - ((Math.min(temperatureC, highC) - lowC) / (highC - lowC)) * PANEL.height;
const text = (x, y, content, attributes = "") => `<text x="${x}" y="${y}" ${attributes}>${content}</text>`;

async function panel(pathway, index) {
  const x = PANEL.left + (index % COLUMN_COUNT) * (PANEL.width + PANEL.gapX);
  const y = PANEL.top + Math.floor(index / COLUMN_COUNT) * (PANEL.height + PANEL.gapY);
  const parts = [`<g transform="translate(${x} ${y})">`, text(0, -10, pathway, 'class="title"')];
  for (const { temperature_2100_c } of NGFS_PHASE5.anchors) {
    const y = yOf(temperature_2100_c).toFixed(1);
    parts.push(`<line x1="0" x2="${PANEL.width}" y1="${y}" y2="${y}" class="anchor"/>`);
  }
  for (const temperatureC of [1.5, 2, 2.5, 3, 3.5, 4]) {
    parts.push(text(-6, (yOf(temperatureC) + 4).toFixed(1), temperatureC.toFixed(1), 'class="tick" text-anchor="end"'));
  }
  for (const ratio of [0, 0.5, 1, 1.5]) {
    const x = xOf(ratio).toFixed(1);
    parts.push(`<line x1="${x}" x2="${x}" y1="${PANEL.height}" y2="${PANEL.height + 4}" class="axis"/>`);
    parts.push(text(x, PANEL.height + 17, ratio, 'class="tick" text-anchor="middle"'));
  }
  for (const [i, year] of YEARS.entries()) {
    const temperaturesC = await curve(pathway, year);
    const inside = temperaturesC.filter((temperatureC) => temperatureC <= highC).length;
    const corners = temperaturesC
      .slice(0, inside + 1)
      .map((temperatureC, j) => ({ x: xOf((RATIO_MAX * j) / (POINT_COUNT - 1)), y: yOf(temperatureC) }))
      .filter(
        ({ y }, j, all) =>
          Math.abs((all[j - 1]?.y ?? NaN) + (all[j + 1]?.y ?? NaN) - 2 * y) > 0.01 || !all[j - 1] || !all[j + 1],
      );
    const points = corners.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`);
    parts.push(`<polyline points="${points.join(" ")}" stroke="${COLORS[i]}"/>`);
  }
  parts.push(`<path d="M0 0V${PANEL.height}H${PANEL.width}" class="axis"/>`, "</g>");
  return parts.join("\n");
}

const pathways = Object.keys(NGFS_PHASE5.pathways);
const rowCount = Math.ceil(pathways.length / COLUMN_COUNT);
const width = PANEL.left + COLUMN_COUNT * (PANEL.width + PANEL.gapX) - PANEL.gapX + 20;
const height = PANEL.top + rowCount * (PANEL.height + PANEL.gapY) + 14;
const panels = await Promise.all(pathways.map(panel));
const legend = YEARS.map(
  (year, i) =>
    `<line x1="${PANEL.left + i * 74}" x2="${PANEL.left + i * 74 + 22}" y1="22" y2="22" stroke="${COLORS[i]}" stroke-width="2.5"/>` +
    text(PANEL.left + i * 74 + 28, 26, year),
);

await writeFile(
  new URL("../docs/methods/alignment.svg", import.meta.url),
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12" role="img" aria-label="Implied temperature against emissions intensity for six pathways and six years">
<style>
  text { fill: #333 } .title { font-weight: 600; font-size: 13px } .tick { font-size: 11px; fill: #666 }
  polyline { fill: none; stroke-width: 1.8 } .axis { fill: none; stroke: #888 } .anchor { stroke: #ccc; stroke-dasharray: 3 3 }
</style>
<rect width="100%" height="100%" fill="#fff"/>
${legend.join("\n")}
${text(width - 20, 26, "dashed: the four scenarios", 'text-anchor="end"')}
${panels.join("\n")}
${text(width / 2, height - 8, "intensity in the year / intensity in the baseline year 2025 (scope 1 alone); vertical: implied warming in 2100, °C", 'text-anchor="middle"')}
</svg>
`,
);
