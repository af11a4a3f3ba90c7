/** Checks the options of the client, so that a misspelled one is reported instead of ignored. */

type Kind = "string" | "boolean" | "number" | "function" | "object" | "array" | "string or URL" | "AbortSignal";

/** Option names and the required types of their values. */
export type OptionKinds = Readonly<Record<string, Kind>>;

export const RETRY_OPTIONS: OptionKinds = { attempts: "number", delayMsMax: "number" };
export const CLIENT_OPTIONS: OptionKinds = {
  baseUrl: "string or URL",
  apiKey: "string",
  customerId: "string",
  retry: "object",
  onAnswer: "function",
  fetch: "function",
};
export const CALL_OPTIONS: OptionKinds = { signal: "AbortSignal" };
export const DATA_OPTIONS: OptionKinds = { ...CALL_OPTIONS, customerId: "string" };
export const ALIGNMENT_OPTIONS: OptionKinds = {
  ...DATA_OPTIONS,
  basis: "string",
  include: "array",
  budgetScenario: "string",
  convergence: "number",
  benchmark: "string",
  detail: "boolean",
};

/**
 * Validates options. Members that are `undefined` are treated as absent.
 *
 * @param what name of the options in error messages
 * @returns the options themselves
 * @throws TypeError that lists every unknown option and every value of a wrong type
 */
export function checkOptions<Options extends object>(what: string, options: Options, kinds: OptionKinds): Options {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new TypeError(`${what} must be an object with ${Object.keys(kinds).join(", ")}.`);
  }
  const errors: string[] = [];
  for (const [name, value] of Object.entries(options) as [string, unknown][]) {
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    if (kind === undefined) errors.push(unknownOption(name, Object.keys(kinds)));
    else if (value !== undefined && !hasKind(kind, value)) errors.push(`${name} must be ${ARTICLES[kind]}.`);
  }
  if (errors.length > 0) throw new TypeError(`${what}: ${errors.join(" ")}`);
  return options;
}

const ARTICLES = {
  string: "a string",
  boolean: "a boolean",
  number: "a number",
  function: "a function",
  object: "an object",
  array: "an array",
  "string or URL": "a string or a URL",
  AbortSignal: "an AbortSignal",
} as const satisfies Record<Kind, string>;

function hasKind(kind: Kind, value: unknown): boolean {
  const isObject = typeof value === "object" && value !== null;
  if (kind === "string or URL") return typeof value === "string" || value instanceof URL;
  // Not instanceof: a signal may come from another realm, such as a frame.
  if (kind === "AbortSignal") return isObject && "aborted" in value && "addEventListener" in value;
  if (kind === "array") return Array.isArray(value);
  return kind === "object" ? isObject && !Array.isArray(value) : typeof value === kind;
}

function unknownOption(name: string, known: readonly string[]): string {
  const similar = known.find((candidate) => normalize(candidate) === normalize(name));
  const hint = similar === undefined ? "" : `; did you mean ${similar}?`;
  return `unknown option ${JSON.stringify(name)}; known options are ${known.join(", ")}${hint === "" ? "." : hint}`;
}

/** Removes differences in case, hyphens, underscores and a plural s. */
function normalize(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]|s$/g, "");
}
