import { ExplorerError, type ExplorerData } from "./explorerData.ts";

/** Name of the element `<meta>` that only published pages have. Its content is the address of the configuration. */
const META_NAME = "isotherm-explorer";

/** The parts of a document that are read. */
export interface PublishedPage {
  readonly baseURI: string;
  querySelector(selectors: string): { getAttribute(name: string): string | null } | null;
}

export interface PublishedOptions {
  readonly signal?: AbortSignal;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
}

/** Returns the address of the configuration of a published page; undefined if a service sent the page. */
export function configurationAddress(page: PublishedPage): string | undefined {
  const address = page.querySelector(`meta[name="${META_NAME}"]`)?.getAttribute("content") ?? undefined;
  return address === undefined ? undefined : new URL(address, page.baseURI).href;
}

/**
 * Returns the data of a published page: the engine, on the atlas that the configuration names.
 *
 * @throws ExplorerError if the configuration cannot be read; the signal's reason
 */
export async function publishedData(
  configuration: string,
  { signal, fetch = (...request) => globalThis.fetch(...request) }: PublishedOptions = {},
): Promise<ExplorerData> {
  const [atlasAddress, { engineData }] = await Promise.all([
    readAtlasAddress(configuration, fetch, signal),
    import("./engineData.ts"),
  ]);
  signal?.throwIfAborted();
  return engineData(atlasAddress);
}

async function readAtlasAddress(
  configuration: string,
  fetch: typeof globalThis.fetch,
  signal: AbortSignal | undefined,
): Promise<string> {
  let response: Response;
  try {
    response = await fetch(configuration, signal === undefined ? {} : { signal });
  } catch {
    signal?.throwIfAborted();
    throw new ExplorerError("network", `${configuration} cannot be reached. Check the connection, then try again.`);
  }
  const { status } = response;
  if (!response.ok) throw invalidConfiguration(`${configuration} must be there (the host answered with ${status})`);
  return atlasAddressOf(await response.text(), configuration);
}

/** Returns the address of the atlas in the text of a configuration: `{ "atlas": "atlas/" }`, relative to the file. */
export function atlasAddressOf(text: string, configuration: string): string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw invalidConfiguration(`${configuration} must be JSON`);
  }
  const atlas = typeof parsed === "object" && parsed !== null && "atlas" in parsed ? parsed.atlas : undefined;
  if (typeof atlas !== "string" || atlas === "") {
    throw invalidConfiguration(`${configuration} must have the address of the atlas in "atlas", as a string`);
  }
  return atlas === "demo" ? atlas : new URL(atlas, configuration).href;
}

function invalidConfiguration(reason: string): ExplorerError {
  return new ExplorerError("configuration_invalid", `This page is not published completely: ${reason}.`);
}
