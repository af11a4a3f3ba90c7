import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Which room may open which; docs/architecture.md draws the same table. Each may open itself and the common files. */
const DOORS: Readonly<Record<string, readonly string[] | "everything">> = {
  kernel: [],
  atlas: ["kernel"],
  hazard: ["kernel", "atlas"],
  reference: [],
  alignment: ["kernel", "reference"],
  pool: ["hazard", "atlas", "kernel"],
  demo: ["atlas", "kernel", "hazard/hazards.ts"],
  ingest: ["atlas", "kernel", "hazard/hazards.ts", "version.ts"],
  company: ["reference"],
  ledger: [],
  host: ["hazard", "alignment", "company", "ledger", "pool", "version.ts"],
  client: [],
  cli: "everything",
};
/** Files outside the rooms: the common ones, and those that put the rooms together. */
const COMPOSITION = [
  "csvText.ts",
  "errors.ts",
  "explain.ts",
  "index.ts",
  "openAtlas.ts",
  "optionalPackages.ts",
  "parameters.ts",
  "version.ts",
  "workerMain.ts",
  "workerThreads.ts",
  "workerThreads.browser.ts",
];
/** Files that every module may import: errors and their texts, query parameters, CSV text, checks for optional packages. */
const COMMON = new Set(["csvText.ts", "errors.ts", "explain.ts", "optionalPackages.ts", "parameters.ts"]);
const DRAWERS = /^(utils?|helpers?|types?|common|misc|shared|lib)(\.ts)?$/i;

function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).split(sep).join("/"));
}

/** What a file imports, relative specifiers as paths from the root; on request without imports of types alone. */
function importsOf(file: string, { types = true } = {}): string[] {
  const whole = readFileSync(join(ROOT, file), "utf8");
  const text = types ? whole : whole.replaceAll(/(?:^|\n)\s*import type\b[^;]*;/g, "\n");
  const specifiers = [
    ...text.matchAll(/(?:^|\n)\s*(?:import|export)\b[^;"'=]*?\bfrom\s*["']([^"']+)["']/g),
    ...text.matchAll(/(?:^|\n)\s*import\s*["']([^"']+)["']/g),
    ...text.matchAll(/\bimport\(\s*["']([^"']+)["']/g),
  ];
  return specifiers.map(([, specifier = ""]) =>
    specifier.startsWith(".") ? join(dirname(file), specifier).split(sep).join("/") : specifier,
  );
}

const sources = filesBelow("src");

describe("the doors of the house", () => {
  test("every file under src/ stands in a room of the table", () => {
    const rooms = new Set(sources.map((file) => file.split("/")[1] ?? ""));
    for (const entry of COMPOSITION) rooms.delete(entry);
    expect([...rooms].toSorted()).toEqual(Object.keys(DOORS).toSorted());
  });

  test.each(sources)("%s opens no door it may not", (file) => {
    const room = file.split("/")[1] ?? "";
    const doors = DOORS[room];
    if (doors === undefined || doors === "everything") return;
    const forbidden = importsOf(file)
      .filter((path) => path.startsWith("src/") || path.startsWith("assembly/") || path.startsWith("test/"))
      .map((path) => path.replace(/^src\//, ""))
      .filter((path) => !COMMON.has(path) && !path.startsWith(`${room}/`))
      .filter((path) => !doors.some((door) => (door.endsWith(".ts") ? path === door : path.startsWith(`${door}/`))));
    expect(forbidden).toEqual([]);
  });

  test("assembly/ imports nothing but assembly/", () => {
    const outside = filesBelow("assembly").flatMap((file) =>
      importsOf(file).filter((path) => !path.startsWith("assembly/")),
    );
    expect(outside).toEqual([]);
  });

  test("the oracles import nothing of what they judge", () => {
    const judged = filesBelow("test/oracle").flatMap((file) =>
      importsOf(file)
        .filter((path) => path.startsWith("assembly/") || path.startsWith("src/"))
        .map((path) => `${file}: ${path}`),
    );
    expect(judged).toEqual([]);
  });

  test("only src/host/server.ts and src/host/admin.ts touch node:http; others know the types of what they are handed", () => {
    const users = sources.filter((file) =>
      importsOf(file, { types: false }).some((path) => /^node:(https?2?|http2)$/.test(path)),
    );
    expect(users.toSorted()).toEqual(["src/host/admin.ts", "src/host/server.ts"]);
  });

  test("there is no drawer for odds and ends, and no index.ts inside a room", () => {
    const odd = sources.filter(
      (file) => file.split("/").some((part) => DRAWERS.test(part)) || /^src\/.+\/index\.ts$/.test(file),
    );
    expect(odd).toEqual([]);
  });

  test("the core opens without what only ingest and host need", () => {
    const seen = new Set<string>();
    const packages = new Set<string>();
    const visit = (file: string): void => {
      if (seen.has(file)) return;
      seen.add(file);
      for (const path of importsOf(file)) {
        if (path.startsWith("src/")) visit(path);
        else if (!path.startsWith("node:")) packages.add(path);
      }
    };
    visit("src/index.ts");
    expect([...packages].toSorted()).toEqual([
      "@assemblyscript/loader",
      "flatbuffers",
      "geographiclib-geodesic",
      "typebox",
      "typebox/compile",
    ]);
  });
});
