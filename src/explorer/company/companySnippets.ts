/** The request of a company view as programs to copy: curl, TypeScript and Python, and as JSON. */
import type { AlignmentParameters, AlignmentRequest, CompanyRequest } from "../../contract/wireTypes.ts";
import {
  CUSTOMER_VARIABLE,
  KEY_VARIABLE,
  type Snippet,
  type SnippetLanguage,
  type SnippetTarget,
} from "../snippets.ts";

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

const NO_SERVICE = "A published folder has no HTTP service: use the library, in TypeScript or JavaScript.";
/** Longer values have a line for each member. */
const WIDTH = 100;

/** Returns the program that sends the request and prints the answer as JSON. */
export function companySnippet(language: SnippetLanguage, target: SnippetTarget, call: CompanyCall): Snippet {
  if (language === "json") return { code: sourceText(call.request, JSON_STYLE) };
  if (target.kind === "published") {
    return language === "typescript" ? { code: libraryProgram(call) } : { unavailable: NO_SERVICE };
  }
  switch (language) {
    case "curl":
      return { code: curlCommand(target.baseUrl, call) };
    case "typescript":
      return { code: clientProgram(target.baseUrl, call) };
    case "python":
      return { code: pythonProgram(target.baseUrl, call) };
    default:
      return language satisfies never;
  }
}

/** Returns the requirements of a program, or a description of the JSON. */
export function companySnippetNote(language: SnippetLanguage, target: SnippetTarget, call: CompanyCall): string {
  if (language === "json")
    return `The body of POST /${PATHS[call.method]}, also accepted by ${call.method} of the library.`;
  if (target.kind === "published")
    return "Needs Node.js and the package isotherm. Save it as a file ending in .ts or .mjs.";
  const variables = `Reads the API key from the environment variable ${KEY_VARIABLE} and the customer from ${CUSTOMER_VARIABLE}.`;
  return language === "typescript" ? `${variables} Needs Node.js and the package isotherm.` : variables;
}

function urlOf(baseUrl: string, call: CompanyCall): string {
  const parameters = call.method === "alignTemperature" ? Object.entries(call.parameters) : [];
  const texts = parameters.map(([name, value]) => {
    const items: readonly unknown[] = Array.isArray(value) ? value : [value];
    return `${name}=${items.map((item) => encodeURIComponent(String(item))).join(",")}`;
  });
  return `${new URL(PATHS[call.method], baseUrl).href}${texts.length === 0 ? "" : `?${texts.join("&")}`}`;
}

function curlCommand(baseUrl: string, call: CompanyCall): string {
  const body = sourceText(call.request, JSON_STYLE);
  return [
    `curl --fail-with-body ${shellQuote(urlOf(baseUrl, call))}`,
    `--header "X-API-Key: $${KEY_VARIABLE}"`,
    `--header "X-Customer-ID: $${CUSTOMER_VARIABLE}"`,
    `--header "Content-Type: application/json"`,
    `--data-raw ${shellQuote(body)}`,
  ].join(" \\\n  ");
}

/** Returns the arguments of the method in the client and in the library. */
function argumentsOf(call: CompanyCall): string {
  const request = sourceText(call.request, TYPESCRIPT);
  if (call.method === "totalClimateRisk") return request;
  const { budget_scenario: budgetScenario, ...parameters } = call.parameters;
  return `${request}, ${sourceText({ ...parameters, budgetScenario }, TYPESCRIPT)}`;
}

function clientProgram(baseUrl: string, call: CompanyCall): string {
  return `import { IsothermClient } from "isotherm/client";

const client = new IsothermClient({
  baseUrl: ${JSON.stringify(baseUrl)},
  apiKey: process.env["${KEY_VARIABLE}"] ?? "",
  customerId: process.env["${CUSTOMER_VARIABLE}"] ?? "",
});
const result = await client.${call.method}(${argumentsOf(call)});
console.log(JSON.stringify(result, null, 2));
`;
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

function pythonProgram(baseUrl: string, call: CompanyCall): string {
  return `import json
import os
import urllib.request

body = ${sourceText(call.request, PYTHON)}
request = urllib.request.Request(
    ${JSON.stringify(urlOf(baseUrl, call))},
    data=json.dumps(body).encode(),
    headers={
        "Content-Type": "application/json",
        "X-API-Key": os.environ["${KEY_VARIABLE}"],
        "X-Customer-ID": os.environ["${CUSTOMER_VARIABLE}"],
    },
)
with urllib.request.urlopen(request) as response:
    result = json.load(response)
print(json.dumps(result, indent=2))
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
