// Prints the optional packages with the versions that are tested here, as arguments for npm install.
import { readFileSync } from "node:fs";

const { peerDependencies, devDependencies } = JSON.parse(
  readFileSync(new URL("../package.json", import.meta.url), "utf8"),
);
console.log(
  Object.keys(peerDependencies)
    .map((name) => `${name}@${devDependencies[name]}`)
    .join(" "),
);
