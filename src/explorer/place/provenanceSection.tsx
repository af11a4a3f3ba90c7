import type { HazardResult, Scenario } from "../../contract/wireTypes.ts";
import { scenarioTitle } from "../format.ts";
import { answerOf, BASELINE_YEAR } from "./placeQuery.ts";
import { cellsText, rulesOf, sourcesOf } from "./provenance.ts";

interface ProvenanceSectionProps {
  readonly result: HazardResult;
  readonly scenario: Scenario;
  readonly year: number;
  readonly release: string;
}

/** The cells, rules and sources of the values. Cells and rules are those of the layer that the map shows. */
export function ProvenanceSection({ result, scenario, year, release }: ProvenanceSectionProps) {
  const detail = answerOf(result, scenario, year)?.detail;
  const caveats = new Set(
    result.results.flatMap(({ scenarios }) =>
      scenarios.flatMap(({ analysis_years }) => analysis_years.flatMap(({ detail }) => detail?.caveats ?? [])),
    ),
  );
  const sources = sourcesOf(result);
  return (
    <details class="panel-part" open>
      <summary>Cells, rules and sources</summary>
      {detail === undefined ? null : (
        <>
          <h4>
            {scenarioTitle(scenario)} {scenario === "baseline" ? BASELINE_YEAR : year}
          </h4>
          <Pairs pairs={[...cellsText(detail), ["Release of the atlas", release]]} />
          {rulesOf(detail).length === 0 ? null : <h4>Rules</h4>}
          <Pairs pairs={rulesOf(detail)} />
        </>
      )}
      {[...caveats].map((caveat) => (
        <p key={caveat} class="caveat">
          {caveat}
        </p>
      ))}
      {sources.map(({ layers, members }) => (
        <div key={layers.join()}>
          <h4>{sources.length === 1 ? "Source of all values" : `Source of ${layers.join(", ")}`}</h4>
          <Pairs pairs={members} />
        </div>
      ))}
    </details>
  );
}

function Pairs({ pairs }: { readonly pairs: readonly (readonly [name: string, text: string])[] }) {
  if (pairs.length === 0) return null;
  return (
    <dl class="pairs">
      {pairs.map(([name, text]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  );
}
