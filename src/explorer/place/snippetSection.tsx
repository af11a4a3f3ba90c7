/** The query of the panel as programs that can be pasted: curl, TypeScript and Python, and as JSON. */
import type { CurveQueryInput, HazardQueryInput } from "../../contract/wireTypes.ts";
import { clientProgram, curlCommand, pythonProgram, type SnippetPrograms } from "../snippets.ts";
import { SnippetPanel } from "../snippetPanel.tsx";

/** A call of the API or of the library. */
type SnippetCall =
  | { readonly method: "hazardRisk"; readonly query: HazardQueryInput }
  | { readonly method: "curve"; readonly query: CurveQueryInput };

const PATHS = { hazardRisk: "api/v1/hazard-risk", curve: "api/v1/hazard-risk/curve" } as const;

/** Returns the programs that send the query and print the answer as JSON. */
function queryPrograms(call: SnippetCall): SnippetPrograms {
  const { method, query } = call;
  const parameters = parametersOf(query);
  return {
    json: () => JSON.stringify([query], undefined, 2),
    jsonNote: `The body of POST /${PATHS[method]}/batch, also accepted by ${method}Batch of the library.`,
    library: (atlasUrl) => libraryProgram(atlasUrl, call),
    client: (baseUrl) => clientProgram(baseUrl, `${method}(${objectText({ ...query })})`),
    curl(baseUrl) {
      const texts = parameters.map(([name, value]) => `${name}=${encodeURIComponent(value).replaceAll("%2C", ",")}`);
      return curlCommand(`"${urlOf(baseUrl, call)}?${texts.join("&")}"`);
    },
    python(baseUrl) {
      const members = parameters.map(([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)},\n`);
      return pythonProgram({
        imports: ["urllib.parse"],
        definition: `query = {\n${members.join("")}}`,
        url: `${JSON.stringify(urlOf(baseUrl, call))} + "?" + urllib.parse.urlencode(query)`,
      });
    },
  };
}

function libraryProgram(atlasUrl: string, { method, query }: SnippetCall): string {
  return `import { openAtlas } from "isotherm";

const atlas = await openAtlas(${JSON.stringify(atlasUrl)});
const result = await atlas.${method}(${objectText({ ...query })});
console.log(JSON.stringify(result, null, 2));
await atlas.close();
`;
}

function urlOf(baseUrl: string, { method }: SnippetCall): string {
  return new URL(PATHS[method], baseUrl).href;
}

/** Returns the parameters of GET: lists are separated by commas. */
function parametersOf(query: SnippetCall["query"]): readonly (readonly [name: string, value: string])[] {
  return Object.entries(query).map(([name, value]) => [name, Array.isArray(value) ? value.join(",") : String(value)]);
}

/** Returns an object as TypeScript: one member per line, lists on one line. */
function objectText(value: Readonly<Record<string, unknown>>): string {
  const members = Object.entries(value).map(
    ([name, member]) => `  ${name}: ${JSON.stringify(member).replaceAll(",", ", ")},\n`,
  );
  return `{\n${members.join("")}}`;
}

const QUERY_TITLES: Readonly<Record<SnippetCall["method"], string>> = {
  hazardRisk: "Query of the values",
  curve: "Query of the curves",
};

interface SnippetSectionProps {
  readonly call: SnippetCall;
  readonly answer: unknown;
}

/** The query that is shown, as a program to copy, and its answer as JSON. */
export function SnippetSection({ call, answer }: SnippetSectionProps) {
  const codeName = QUERY_TITLES[call.method];
  return (
    <SnippetPanel
      title={`Copy the ${codeName.toLowerCase()}`}
      codeName={codeName}
      programs={queryPrograms(call)}
      answer={answer}
    />
  );
}
