/** How the values of a place were derived: cells, rules, sources and limitations. */
import type { AnswerDetail, HazardResult, MetricName, Scenario } from "../../contract/wireTypes.ts";
import { formatCount, formatLocation, formatShare, metricTitle, reasonText, scenarioTitle } from "../format.ts";

/** A source and the layers that it is the source of. */
export interface NamedSource {
  readonly layers: readonly string[];
  /** Members of the source, as text. */
  readonly members: readonly (readonly [name: string, text: string])[];
}

/** Members of a source that differ between layers and are part of their names. */
const LAYER_MEMBERS = new Set(["scenario", "analysis_year"]);
const UNIT_SUFFIX = "_unit";

/** Returns the sources of an answer; layers with the same source share an entry. */
export function sourcesOf({ sources = {} }: HazardResult): readonly NamedSource[] {
  const byText = new Map<string, { layers: string[]; members: NamedSource["members"] }>();
  for (const [key, source] of Object.entries(sources)) {
    const members = membersOf(Object.fromEntries(Object.entries(source).filter(([name]) => !LAYER_MEMBERS.has(name))));
    const text = JSON.stringify(members);
    const known = byText.get(text) ?? { layers: [], members };
    known.layers.push(layerTitle(key));
    byText.set(text, known);
  }
  return [...byText.values()];
}

/** Returns the title of a layer from its key, `hazard/scenario/analysis_year`. */
function layerTitle(key: string): string {
  const [, scenario = "", year = ""] = key.split("/");
  return `${scenarioTitle(scenario as Scenario) ?? scenario} ${year}`.trim();
}

/** Returns the rules of an answer as text. */
export function rulesOf({ rules }: AnswerDetail): readonly (readonly [name: string, text: string])[] {
  return membersOf(rules);
}

/** Returns the members of an object as text. The unit of a value, which is a separate member, is appended to it. */
function membersOf(value: Readonly<Record<string, unknown>>): readonly (readonly [name: string, text: string])[] {
  return Object.entries(value)
    .filter(([name]) => !(name.endsWith(UNIT_SUFFIX) && name.slice(0, -UNIT_SUFFIX.length) in value))
    .map(([name, member]) => {
      const unit = value[`${name}${UNIT_SUFFIX}`];
      return [memberTitle(name), `${memberText(member)}${typeof unit === "string" ? ` ${unit}` : ""}`];
    });
}

/** Returns where the values come from: cells, the share with data, the center of the cell, and whether a range is missing. */
export function cellsText(detail: AnswerDetail): readonly (readonly [name: string, text: string])[] {
  const { cells, valid_share, cell_center, model_range, baseline_source, metrics = {} } = detail;
  const shares = Object.entries(metrics).map(
    ([metric, { valid_share: share, no_data }]) =>
      [
        `Share with data, ${metricTitle(metric as MetricName).toLowerCase()}`,
        share === undefined ? reasonText(no_data) : formatShare(share),
      ] as const,
  );
  return [
    ["Cells", formatCount(cells)],
    ...(cells === 0
      ? []
      : shares.length > 0
        ? shares
        : [["Share of the area with data", formatShare(valid_share)] as const]),
    ...(cell_center === undefined ? [] : [["Center of the cell", formatLocation(cell_center)] as const]),
    ...(model_range === undefined && valid_share > 0
      ? [
          [
            "Range over climate models",
            baseline_source === undefined ? "not in this atlas" : "not given for changes",
          ] as const,
        ]
      : []),
  ];
}

function memberTitle(name: string): string {
  const words = name.replace(/_(years|deg|km|m|mps)$/, " ($1)").replaceAll("_", " ");
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

function memberText(value: unknown): string {
  if (Array.isArray(value)) return value.map(memberText).join(", ");
  if (typeof value === "object" && value !== null) {
    return Object.entries(value)
      .map(([name, member]) => `${name.replaceAll("_", " ")}: ${memberText(member)}`)
      .join("; ");
  }
  return typeof value === "boolean" ? (value ? "yes" : "no") : String(value);
}
