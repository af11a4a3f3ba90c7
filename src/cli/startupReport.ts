import type { DemoCredentials } from "./demoCredentials.ts";

/** What the service reports once it listens. */
export interface StartupReport {
  readonly url: string;
  readonly adminUrl?: string | undefined;
  /** Address of the atlas without secrets. */
  readonly atlas: string;
  readonly atlasRelease: string;
  readonly isSynthetic: boolean;
  /** The demo's credentials and the file that has them. */
  readonly demo?: { readonly file: string; readonly credentials: DemoCredentials } | undefined;
}

/** Returns the members of the log record. It contains no key: logs are kept and collected. */
export function startupRecord(report: StartupReport): Readonly<Record<string, string | boolean>> {
  const { url, adminUrl, atlas, atlasRelease, isSynthetic, demo } = report;
  return {
    url,
    documentation: `${url}/docs`,
    ...(adminUrl === undefined ? {} : { metrics: `${adminUrl}/metrics` }),
    atlas,
    atlas_release: atlasRelease,
    synthetic: isSynthetic,
    ...(demo === undefined ? {} : { demo_credentials: demo.file }),
  };
}

/** Returns the lines for a person at a terminal: the addresses and, for the demo, a working request. */
export function startupLines(report: StartupReport): readonly string[] {
  const { url, adminUrl, atlas, atlasRelease, isSynthetic, demo } = report;
  const lines = [`Isotherm listens on ${url}`, `Explorer: ${explorerAddress(report)}`, `Documentation: ${url}/docs`];
  if (adminUrl !== undefined) lines.push(`Metrics: ${adminUrl}/metrics`);
  lines.push(`Atlas: ${atlas}, release ${atlasRelease}`);
  if (isSynthetic) {
    lines.push("SYNTHETIC: the values of this atlas are not real data. Do not base decisions on them.");
  }
  if (demo === undefined) {
    lines.push("Requests need an API key: run isotherm accounts create, then isotherm keys create.");
    return lines;
  }
  const key = `$(node -p ${shellQuoted(`require(${JSON.stringify(demo.file)}).api_key`)})`;
  const customer = shellQuoted(`X-Customer-ID: ${demo.credentials.customer_id}`);
  lines.push(`Demo key and customer: ${demo.file}`, "Try it:");
  lines.push(`  curl -H "X-API-Key: ${key}" -H ${customer} '${url}/api/v1/hazard-risk?${EXAMPLE_QUERY}'`);
  return lines;
}

/** Returns the address of the explorer. The fragment, which browsers do not send, contains the key of the demo. */
function explorerAddress({ url, demo }: StartupReport): string {
  if (demo === undefined) return `${url}/`;
  const { api_key, customer_id } = demo.credentials;
  return `${url}/#${new URLSearchParams({ key: api_key, customer: customer_id }).toString()}`;
}

/** A circle of 10 km around Djibouti. */
const EXAMPLE_QUERY =
  "latitude=11.59&longitude=43.15&hazards=riverine_floods,coastal_floods&analysis_years=2050&scenarios=rcp8p5&radius=10";

/** Quotes text for a POSIX shell. */
function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
