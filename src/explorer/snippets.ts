/**
 * Requests of the API as text to copy: curl, TypeScript (isotherm/client), Python and JSON. They read the key and the
 * customer from environment variables, so that no snippet contains a key.
 */

/** A request to the API, and the method of the client that sends it. */
export interface ApiCall {
  readonly method: "GET" | "POST";
  /** Path without the query, such as `/api/v1/hazard-risk`. */
  readonly path: string;
  /** Query parameters; lists are joined by commas. Undefined values are left out. */
  readonly query?: Readonly<Record<string, QueryValue | undefined>>;
  readonly body?: unknown;
  /** Call of the client, such as `{ name: "curve", args: [query] }`. Trailing undefined arguments are left out. */
  readonly client: { readonly name: string; readonly args: readonly unknown[] };
}

type QueryValue = string | number | boolean | readonly (string | number)[];

export const SNIPPET_LANGUAGES = ["curl", "TypeScript", "Python", "JSON"] as const;
export type SnippetLanguage = (typeof SNIPPET_LANGUAGES)[number];

const WIDTH = 110;

/**
 * Returns a request as text.
 *
 * @param baseUrl address of the service; that of a local one if the page has no service
 */
export function snippetOf(language: SnippetLanguage, call: ApiCall, baseUrl: string): string {
  const url = `${baseUrl.replace(/\/$/, "")}${call.path}${queryText(call.query)}`;
  switch (language) {
    case "curl":
      return curlSnippet(call, url);
    case "TypeScript":
      return typeScriptSnippet(call, baseUrl.replace(/\/$/, ""));
    case "Python":
      return pythonSnippet(call, url);
    case "JSON":
      return call.body === undefined ? jsonText(definedMembers(call.query ?? {})) : jsonText(call.body);
    default:
      return language satisfies never;
  }
}

function curlSnippet({ method, body }: ApiCall, url: string): string {
  const lines = [
    `curl ${shellQuote(url)}`,
    `-H "X-API-Key: $ISOTHERM_API_KEY"`,
    `-H "X-Customer-ID: $ISOTHERM_CUSTOMER_ID"`,
    ...(method === "POST" ? [`-H "Content-Type: application/json"`, `-d ${shellQuote(jsonText(body))}`] : []),
  ];
  return lines.join(" \\\n  ");
}

function typeScriptSnippet({ client: { name, args } }: ApiCall, baseUrl: string): string {
  const texts = args
    .filter((arg) => arg !== undefined)
    .map((arg) => sourceText(arg, { style: TYPESCRIPT, indent: "" }));
  return [
    `import { IsothermClient } from "isotherm/client";`,
    "",
    "const client = new IsothermClient({",
    `  baseUrl: ${JSON.stringify(baseUrl)},`,
    "  apiKey: process.env.ISOTHERM_API_KEY,",
    "  customerId: process.env.ISOTHERM_CUSTOMER_ID,",
    "});",
    `const answer = await client.${name}(${texts.join(", ")});`,
    "console.log(JSON.stringify(answer, null, 2));",
  ].join("\n");
}

function pythonSnippet({ method, body }: ApiCall, url: string): string {
  const isPost = method === "POST";
  return [
    "import json",
    "import os",
    "import urllib.request",
    "",
    ...(isPost ? [`body = ${sourceText(body, { style: PYTHON, indent: "" })}`] : []),
    "request = urllib.request.Request(",
    `    ${JSON.stringify(url)},`,
    ...(isPost ? ["    data=json.dumps(body).encode(),"] : []),
    "    headers={",
    `        "X-API-Key": os.environ["ISOTHERM_API_KEY"],`,
    `        "X-Customer-ID": os.environ["ISOTHERM_CUSTOMER_ID"],`,
    ...(isPost ? [`        "Content-Type": "application/json",`] : []),
    "    },",
    ")",
    "with urllib.request.urlopen(request) as response:",
    "    print(json.dumps(json.load(response), indent=2))",
  ].join("\n");
}

function queryText(query: ApiCall["query"] = {}): string {
  const parts = Object.entries(definedMembers(query)).map(([name, value]) => {
    const text = Array.isArray(value)
      ? value.map((item) => encodeURIComponent(String(item))).join(",")
      : encodeURIComponent(String(value));
    return `${encodeURIComponent(name)}=${text}`;
  });
  return parts.length === 0 ? "" : `?${parts.join("&")}`;
}

function definedMembers(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** Quotes text for a POSIX shell. */
function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** How a language writes values. */
interface SourceStyle {
  readonly indent: string;
  readonly literal: (value: unknown) => string;
  readonly key: (name: string) => string;
  /** Opening and closing of an object on one line. */
  readonly braces: readonly [string, string];
}

const TYPESCRIPT: SourceStyle = {
  indent: "  ",
  literal: (value) => JSON.stringify(value),
  key: (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)),
  braces: ["{ ", " }"],
};

const JSON_STYLE: SourceStyle = { ...TYPESCRIPT, key: (name) => JSON.stringify(name) };

const PYTHON_LITERALS = new Map<unknown, string>([
  [true, "True"],
  [false, "False"],
  [null, "None"],
]);
const PYTHON: SourceStyle = {
  indent: "    ",
  literal: (value) => PYTHON_LITERALS.get(value) ?? JSON.stringify(value),
  key: (name) => JSON.stringify(name),
  braces: ["{", "}"],
};

function jsonText(value: unknown): string {
  return sourceText(value, { style: JSON_STYLE, indent: "" });
}

/** Writes a value on one line if it is short, else with a line for each member. Undefined members are left out. */
function sourceText(
  value: unknown,
  { style, indent }: { readonly style: SourceStyle; readonly indent: string },
): string {
  if (typeof value !== "object" || value === null) return style.literal(value);
  const inner = { style, indent: indent + style.indent };
  const isList = Array.isArray(value);
  const members = isList
    ? value.map((item) => sourceText(item, inner))
    : Object.entries(definedMembers(value as Record<string, unknown>)).map(
        ([name, member]) => `${style.key(name)}: ${sourceText(member, inner)}`,
      );
  const [open, close] = isList ? (["[", "]"] as const) : style.braces;
  if (members.length === 0) return isList ? "[]" : "{}";
  const line = `${open}${members.join(", ")}${close}`;
  if (!line.includes("\n") && indent.length + line.length <= WIDTH) return line;
  const lines = members.map((member) => `${inner.indent}${member}`).join(",\n");
  return `${open.trim()}\n${lines}\n${indent}${close.trim()}`;
}
