import { readFileSync } from "node:fs";

/** The version of the package that this file is part of: src and dist lie equally deep. Not for browsers. */
export const version: string = (
  JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }
).version;
