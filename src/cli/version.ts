import { readFileSync } from "node:fs";

/** The version of the package that this file is part of: src/cli and dist/cli lie equally deep. */
export const version: string = (
  JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string }
).version;
