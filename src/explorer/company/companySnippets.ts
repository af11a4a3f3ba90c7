/** The request of a company view as programs to copy: curl, TypeScript and Python, and as JSON. */
import type { AlignmentParameters, AlignmentRequest, CompanyRequest } from "../../contract/wireTypes.ts";
import { clientProgram, curlCommand, pythonProgram, type SnippetPrograms } from "../snippets.ts";

/** A request to the API or to the library. */
export type CompanyCall =
  | {
      readonly method: "alignTemperature";
      readonly request: AlignmentRequest;
      readonly parameters: AlignmentParameters;
    }
  | { readonly method: "totalClimateRisk"; readonly request: CompanyRequest };

const PATHS = {
  alignTemperature: "api/v1/temperature-alignment-projections",
  totalClimateRisk: "analyze/total-climate-risk",
} as const;

/** Longer values have a line for each member. */
const WIDTH = 100;

/** Returns the programs that send the request and print the answer as JSON. */
export function companyPrograms(call: CompanyCall): SnippetPrograms {
  const { method, request } = call;
  return {
    json: () => sourceText(request, JSON_STYLE),
    jsonNote: `The body of POST /${PATHS[method]}, also accepted by ${method} of the library.`,
    library: () => libraryProgram(call),
    client: (baseUrl) => clientProgram(baseUrl, `${method}(${argumentsOf(call)})`),
    curl: (baseUrl) =>
      curlCommand(shellQuote(urlOf(baseUrl, call)), [
        `--header "Content-Type: application/json"`,
        `--data-raw ${shellQuote(sourceText(request, JSON_STYLE))}`,
      ]),
    python: (baseUrl) =>
      pythonProgram({
        definition: `body = ${sourceText(request, PYTHON)}`,
        url: JSON.stringify(urlOf(baseUrl, call)),
        body: "body",
      }),
  };
}

function urlOf(baseUrl: string, call: CompanyCall): string {
  const parameters = call.method === "alignTemperature" ? Object.entries(call.parameters) : [];
  const texts = parameters.map(([name, value]) => {
    const items: readonly unknown[] = Array.isArray(value) ? value : [value];
    return `${name}=${items.map((item) => encodeURIComponent(String(item))).join(",")}`;
  });
  return `${new URL(PATHS[call.method], baseUrl).href}${texts.length === 0 ? "" : `?${texts.join("&")}`}`;
}

/** Returns the arguments of the method in the client and in the library. */
function argumentsOf(call: CompanyCall): string {
  const request = sourceText(call.request, TYPESCRIPT);
  if (call.method === "totalClimateRisk") return request;
  const { budget_scenario: budgetScenario, ...parameters } = call.parameters;
  return `${request}, ${sourceText({ ...parameters, budgetScenario }, TYPESCRIPT)}`;
}

function libraryProgram(call: CompanyCall): string {
  if (call.method === "totalClimateRisk") {
    return `import { totalClimateRisk } from "isotherm";

const result = totalClimateRisk(${argumentsOf(call)});
console.log(JSON.stringify(result, null, 2));
`;
  }
  // The library takes a benchmark as an object; the page has only the default one.
  const { benchmark: _, ...parameters } = call.parameters;
  return `import { alignTemperature, roundTemperatures } from "isotherm";

const result = await alignTemperature(${argumentsOf({ ...call, parameters })});
console.log(JSON.stringify(roundTemperatures(result), null, 2));
`;
}

/** Quotes text for a POSIX shell. */
function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** How a language writes the members of an object. Texts, numbers and lists are written as in JSON. */
interface SourceStyle {
  readonly indent: string;
  readonly key: (name: string) => string;
  /** Space inside the braces of an object on one line. */
  readonly padding: string;
}

const TYPESCRIPT: SourceStyle = { indent: "  ", key: (name) => name, padding: " " };
const JSON_STYLE: SourceStyle = { indent: "  ", key: (name) => JSON.stringify(name), padding: " " };
const PYTHON: SourceStyle = { indent: "    ", key: (name) => JSON.stringify(name), padding: "" };

/** Writes texts, numbers, lists and objects; undefined members are left out. */
function sourceText(value: unknown, style: SourceStyle, indent = ""): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const inner = indent + style.indent;
  const isList = Array.isArray(value);
  const members = isList
    ? value.map((item) => sourceText(item, style, inner))
    : Object.entries(value).flatMap(([name, member]) =>
        member === undefined ? [] : [`${style.key(name)}: ${sourceText(member, style, inner)}`],
      );
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  const padding = isList || members.length === 0 ? "" : style.padding;
  const line = `${open}${padding}${members.join(", ")}${padding}${close}`;
  if (!line.includes("\n") && inner.length + line.length <= WIDTH) return line;
  return `${open}\n${members
    .map((member) => `${inner}${member},\n`)
    .join("")
    .replace(/,\n$/, "\n")}${indent}${close}`;
}
