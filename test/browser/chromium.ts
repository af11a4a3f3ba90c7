/** Chromium for tests. On CI it is required; elsewhere tests that need it are skipped, with a printed reason. */
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";
import { describe } from "vitest";

const CHROMIUM = process.env["ISOTHERM_CHROMIUM"] ?? "/usr/bin/chromium";
const isAvailable = existsSync(CHROMIUM);
if (!isAvailable) {
  // On CI a missing browser must fail the run instead of skipping tests.
  if (process.env["CI"] === "true") throw new Error(`Chromium is required on CI but not found at ${CHROMIUM}`);
  console.warn(
    `skipped: Chromium not found at ${CHROMIUM} (set ISOTHERM_CHROMIUM to its path), so browser tests do not run`,
  );
}

/** Chromium without optional background services. */
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Declares a suite that needs Chromium. */
export const describeInChromium = describe.skipIf(!isAvailable);

/** @param options `flags`: additional flags; `env`: additional environment variables */
export function launchChromium({
  flags = [],
  env = {},
}: {
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
} = {}): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [...FLAGS, ...flags],
    env: { ...(process.env as Record<string, string>), ...env },
  });
}
