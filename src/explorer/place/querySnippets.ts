/** The query of the panel as programs that can be pasted: curl, TypeScript and Python, and as JSON. */
import type { CurveQueryInput, HazardQueryInput } from "../../contract/wireTypes.ts";
import {
  CUSTOMER_VARIABLE,
  KEY_VARIABLE,
  type Snippet,
  type SnippetLanguage,
  type SnippetTarget,
} from "../snippets.ts";

/** A call of the API or of the library. */
export type SnippetCall =
  | { readonly method: "hazardRisk"; readonly query: HazardQueryInput }
  | { readonly method: "curve"; readonly query: CurveQueryInput };

const PATHS = { hazardRisk: "api/v1/hazard-risk", curve: "api/v1/hazard-risk/curve" } as const;

const NO_SERVICE = "A published atlas has no HTTP service: it is read by the library, in TypeScript or JavaScript.";

/** Returns the program that sends the query and prints the answer as JSON. */
export function querySnippet(language: SnippetLanguage, target: SnippetTarget, call: SnippetCall): Snippet {
  if (language === "json") return { code: JSON.stringify([call.query], undefined, 2) };
  if (language === "typescript") {
    return {
      code: target.kind === "service" ? clientProgram(target.baseUrl, call) : libraryProgram(target.atlasUrl, call),
    };
  }
  if (target.kind === "published") return { unavailable: NO_SERVICE };
  return { code: language === "curl" ? curlCommand(target.baseUrl, call) : pythonProgram(target.baseUrl, call) };
}

/** Returns the requirements of a program, or the use of the JSON. */
export function snippetNote(language: SnippetLanguage, target: SnippetTarget, { method }: SnippetCall): string {
  if (language === "json")
    return `The body of POST /${PATHS[method]}/batch, also accepted by ${method}Batch of the library.`;
  if (target.kind === "published")
    return "Needs Node.js and the package isotherm. Save it as a file ending in .ts or .mjs.";
  const variables = `Reads the API key from the environment variable ${KEY_VARIABLE} and the customer from ${CUSTOMER_VARIABLE}.`;
  return language === "typescript" ? `${variables} Needs Node.js and the package isotherm.` : variables;
}

function curlCommand(baseUrl: string, call: SnippetCall): string {
  return [
    `curl --fail-with-body "${urlOf(baseUrl, call)}"`,
    `--header "X-API-Key: $${KEY_VARIABLE}"`,
    `--header "X-Customer-ID: $${CUSTOMER_VARIABLE}"`,
  ].join(" \\\n  ");
}

function clientProgram(baseUrl: string, { method, query }: SnippetCall): string {
  return `import { IsothermClient } from "isotherm/client";

const client = new IsothermClient({
  baseUrl: ${JSON.stringify(baseUrl)},
  apiKey: process.env["${KEY_VARIABLE}"] ?? "",
  customerId: process.env["${CUSTOMER_VARIABLE}"] ?? "",
});
const result = await client.${method}(${objectText({ ...query })});
console.log(JSON.stringify(result, null, 2));
`;
}

function libraryProgram(atlasUrl: string, { method, query }: SnippetCall): string {
  return `import { openAtlas } from "isotherm";

const atlas = await openAtlas(${JSON.stringify(atlasUrl)});
const result = await atlas.${method}(${objectText({ ...query })});
console.log(JSON.stringify(result, null, 2));
await atlas.close();
`;
}

function pythonProgram(baseUrl: string, call: SnippetCall): string {
  const parameters = parametersOf(call.query).map(
    ([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)},\n`,
  );
  return `import json
import os
import urllib.parse
import urllib.request

query = {
${parameters.join("")}}
request = urllib.request.Request(
    ${JSON.stringify(new URL(PATHS[call.method], baseUrl).href)} + "?" + urllib.parse.urlencode(query),
    headers={
        "X-API-Key": os.environ["${KEY_VARIABLE}"],
        "X-Customer-ID": os.environ["${CUSTOMER_VARIABLE}"],
    },
)
with urllib.request.urlopen(request) as response:
    result = json.load(response)
print(json.dumps(result, indent=2))
`;
}

function urlOf(baseUrl: string, { method, query }: SnippetCall): string {
  const parameters = parametersOf(query).map(
    ([name, value]) => `${name}=${encodeURIComponent(value).replaceAll("%2C", ",")}`,
  );
  return `${new URL(PATHS[method], baseUrl).href}?${parameters.join("&")}`;
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
