/** Checks the options of the client, so that a misspelled one is reported instead of ignored. */

type Kind = "string" | "boolean" | "number" | "function" | "object" | "string or URL" | "AbortSignal";

/** Options by name, with what their values must be. */
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
export const ALIGNMENT_OPTIONS: OptionKinds = { ...DATA_OPTIONS, basis: "string", detail: "boolean" };

/**
 * Checks options. Members that are `undefined` count as absent.
 *
 * @param what how a message calls them
 * @returns the options themselves
 * @throws TypeError with every member that does not exist or has a value of another type
 */
export function checkOptions<Options extends object>(what: string, options: Options, kinds: OptionKinds): Options {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new TypeError(`${what} must be an object with ${Object.keys(kinds).join(", ")}.`);
  }
  const faults: string[] = [];
  for (const [name, value] of Object.entries(options) as [string, unknown][]) {
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    if (kind === undefined) faults.push(unknownOption(name, Object.keys(kinds)));
    else if (value !== undefined && !isOf(kind, value)) faults.push(`${name} must be ${ARTICLES[kind]}.`);
  }
  if (faults.length > 0) throw new TypeError(`${what}: ${faults.join(" ")}`);
  return options;
}

const ARTICLES = {
  string: "a string",
  boolean: "a boolean",
  number: "a number",
  function: "a function",
  object: "an object",
  "string or URL": "a string or a URL",
  AbortSignal: "an AbortSignal",
} as const satisfies Record<Kind, string>;

function isOf(kind: Kind, value: unknown): boolean {
  const isObject = typeof value === "object" && value !== null;
  if (kind === "string or URL") return typeof value === "string" || value instanceof URL;
  // By its members: a signal may come from another realm, such as a frame.
  if (kind === "AbortSignal") return isObject && "aborted" in value && "addEventListener" in value;
  return kind === "object" ? isObject && !Array.isArray(value) : typeof value === kind;
}

function unknownOption(name: string, known: readonly string[]): string {
  const meant = known.find((each) => folded(each) === folded(name));
  const hint = meant === undefined ? "" : `; did you mean ${meant}?`;
  return `There is no option ${JSON.stringify(name)}; known are ${known.join(", ")}${hint === "" ? "." : hint}`;
}

/** Case, hyphens, underscores and a plural s do not count. */
function folded(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]|s$/g, "");
}
