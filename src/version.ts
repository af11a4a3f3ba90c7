import { readFileSync } from "node:fs";

/** Version from package.json, which is one level above both src and dist. Not available in browsers. */
export const version: string = (
  JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }
).version;
