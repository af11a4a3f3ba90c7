/** What the programs to copy have in common. */

/** Where the programs send their request. */
export type SnippetTarget =
  | { readonly kind: "service"; /** With a slash at its end. */ readonly baseUrl: string }
  | { readonly kind: "published"; readonly atlasUrl: string };

export const SNIPPET_LANGUAGES = ["curl", "typescript", "python", "json"] as const;
export type SnippetLanguage = (typeof SNIPPET_LANGUAGES)[number];

export const LANGUAGE_TITLES: Readonly<Record<SnippetLanguage, string>> = {
  curl: "curl",
  typescript: "TypeScript",
  python: "Python",
  json: "JSON",
};

/** A program, or why there is none. */
export type Snippet = { readonly code: string } | { readonly unavailable: string };

/** Environment variables that the programs read. Their values are never part of a program. */
const KEY_VARIABLE = "ISOTHERM_KEY";
const CUSTOMER_VARIABLE = "ISOTHERM_CUSTOMER";

/** The programs for one call. */
export interface SnippetPrograms {
  /** The body of a POST request. */
  readonly json: () => string;
  /** What accepts the body. */
  readonly jsonNote: string;
  /** The program for the library, which needs no service. */
  readonly library: (atlasUrl: string) => string;
  /** The program for the client of the service. */
  readonly client: (baseUrl: string) => string;
  readonly curl: (baseUrl: string) => string;
  readonly python: (baseUrl: string) => string;
}

/** Returns the program in a language, which prints the answer as JSON. */
export function snippetIn(language: SnippetLanguage, target: SnippetTarget, programs: SnippetPrograms): Snippet {
  if (language === "json") return { code: programs.json() };
  if (target.kind === "published") {
    return language === "typescript"
      ? { code: programs.library(target.atlasUrl) }
      : { unavailable: "A published atlas has no HTTP service: use the library, in TypeScript or JavaScript." };
  }
  const { baseUrl } = target;
  switch (language) {
    case "curl":
      return { code: programs.curl(baseUrl) };
    case "typescript":
      return { code: programs.client(baseUrl) };
    case "python":
      return { code: programs.python(baseUrl) };
    default:
      return language satisfies never;
  }
}

/** Returns the requirements of a program, or the use of the JSON. */
export function snippetNote(
  language: SnippetLanguage,
  target: SnippetTarget,
  { jsonNote }: Pick<SnippetPrograms, "jsonNote">,
): string {
  if (language === "json") return jsonNote;
  if (target.kind === "published")
    return "Needs Node.js and the package isotherm. Save it as a file ending in .ts or .mjs.";
  const variables = `Reads the API key from the environment variable ${KEY_VARIABLE} and the customer from ${CUSTOMER_VARIABLE}.`;
  return language === "typescript" ? `${variables} Needs Node.js and the package isotherm.` : variables;
}

/** @param options the quoted address, and options beyond the header fields with the key and the customer */
export function curlCommand(quotedUrl: string, options: readonly string[] = []): string {
  return [
    `curl --fail-with-body ${quotedUrl}`,
    `--header "X-API-Key: $${KEY_VARIABLE}"`,
    `--header "X-Customer-ID: $${CUSTOMER_VARIABLE}"`,
    ...options,
  ].join(" \\\n  ");
}

/** @param call a method of the client with its arguments */
export function clientProgram(baseUrl: string, call: string): string {
  return `import { IsothermClient } from "isotherm/client";

const client = new IsothermClient({
  baseUrl: ${JSON.stringify(baseUrl)},
  apiKey: process.env["${KEY_VARIABLE}"] ?? "",
  customerId: process.env["${CUSTOMER_VARIABLE}"] ?? "",
});
const result = await client.${call};
console.log(JSON.stringify(result, null, 2));
`;
}

export interface PythonRequest {
  /** Modules beyond those that every program imports. */
  readonly imports?: readonly string[];
  /** The statement that defines what is sent. */
  readonly definition: string;
  /** Expression of the address. */
  readonly url: string;
  /** Expression of the JSON body; undefined for GET. */
  readonly body?: string;
}

export function pythonProgram({ imports = [], definition, url, body }: PythonRequest): string {
  const modules = ["json", "os", "urllib.request", ...imports].toSorted();
  return `${modules.map((name) => `import ${name}\n`).join("")}
${definition}
request = urllib.request.Request(
    ${url},
${body === undefined ? "" : `    data=json.dumps(${body}).encode(),\n`}    headers={
${body === undefined ? "" : `        "Content-Type": "application/json",\n`}        "X-API-Key": os.environ["${KEY_VARIABLE}"],
        "X-Customer-ID": os.environ["${CUSTOMER_VARIABLE}"],
    },
)
with urllib.request.urlopen(request) as response:
    result = json.load(response)
print(json.dumps(result, indent=2))
`;
}
