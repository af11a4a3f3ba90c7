import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { cyclesOf, filesBelow, folderCyclesOf, graphOf, importsOf } from "../scripts/importGraph.mjs";
import { codeSpansIn, tableRows } from "./documentTables.ts";

/**
 * What each module may import, as documented in docs/architecture.md. Every module may import itself, and all but
 * `contract` SHARED_FILES.
 */
const ALLOWED_IMPORTS: Readonly<Record<string, readonly string[] | "everything">> = {
  contract: [],
  json: [],
  kernel: [],
  tiles: ["contract/wireTypes.ts"],
  threads: [],
  atlas: ["contract/hazardCatalog.ts", "contract/wireTypes.ts", "kernel", "threads"],
  hazard: ["contract", "kernel", "atlas", "threads", "tiles"],
  reference: ["contract/alignmentNames.ts", "contract/companyNames.ts", "contract/wireTypes.ts"],
  alignment: ["contract", "kernel", "reference"],
  portfolio: ["contract", "alignment"],
  pool: ["contract", "hazard", "atlas", "kernel", "threads", "tiles"],
  demo: ["atlas", "kernel", "hazard/hazards.ts"],
  ingest: ["contract/wireTypes.ts", "atlas", "kernel", "hazard/hazards.ts", "threads", "version.ts"],
  company: ["contract", "reference"],
  places: ["contract", "hazard"],
  placeFiles: ["contract", "json", "hazard", "places", "pool", "version.ts"],
  ledger: ["contract", "threads"],
  host: [
    "contract",
    "json",
    "hazard",
    "alignment",
    "company",
    "ledger",
    "pool",
    "portfolio",
    "threads",
    "tiles",
    "openAtlas.ts",
    "version.ts",
  ],
  client: ["contract/wireTypes.ts"],
  explorer: [
    "contract",
    "tiles",
    "client",
    "index.ts",
    "openAtlas.ts",
    "hazard/holdingsCatalog.ts",
    "placeFiles/readers/coordinates.ts",
    "placeFiles/readers/placeColumnNames.ts",
  ],
  cli: "everything",
};
/** Files that every module except `contract` may import. */
const SHARED_FILES = new Set([
  "closestMatch.ts",
  "csvRows.ts",
  "csvText.ts",
  "editDistance.ts",
  "elementaryFunctions.ts",
  "errors.ts",
  "files.ts",
  "markup.ts",
  "folderLock.ts",
  "schemaErrors.ts",
  "sharedCalls.ts",
  "sizedCache.ts",
  "optionalPackages.ts",
  "parameters.ts",
  "utf8Text.ts",
]);
/** Files outside the modules: shared files, and those that compose the modules. */
const ROOT_FILES = [
  ...SHARED_FILES,
  "index.ts",
  "openAtlas.ts",
  "version.ts",
  "workerMain.ts",
  "workerThreads.ts",
  "workerThreads.browser.ts",
];
const CATCH_ALL_NAMES = /^(utils?|helpers?|types?|common|misc|shared|lib)(\.ts)?$/i;

const sources = filesBelow("src");

describe("dependency rules", () => {
  test("every file under src/ is in a known module", () => {
    const modules = new Set(sources.map((file) => file.split("/")[1] ?? ""));
    for (const entry of ROOT_FILES) modules.delete(entry);
    expect([...modules].toSorted()).toEqual(Object.keys(ALLOWED_IMPORTS).toSorted());
  });

  test("docs/architecture.md lists what each module may import, and the shared files", () => {
    const page = readFileSync("docs/architecture.md", "utf8");
    const listed = tableRows(page, "module").map(([name = "", , imports = ""]) => [
      codeSpansIn(name)[0],
      imports === "everything" ? imports : codeSpansIn(imports).toSorted(),
    ]);
    const allowed = Object.entries(ALLOWED_IMPORTS).map(([name, imports]) => [
      name,
      imports === "everything" ? imports : imports.toSorted(),
    ]);
    expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(allowed));
    expect(new Set(tableRows(page, "file").flatMap(([name = ""]) => codeSpansIn(name)))).toEqual(SHARED_FILES);
  });

  test("no modules import each other, including type-only imports", () => {
    expect(cyclesOf(graphOf("src"))).toEqual([]);
  });

  test("no folders import each other, directly or through others", () => {
    expect(folderCyclesOf(graphOf("src"))).toEqual([]);
  });

  test("a folder that imports a file which imports the folder is a cycle", () => {
    const graph = new Map([
      ["src/host/pipeline.ts", ["src/host/http/router.ts", "src/errors.ts"]],
      ["src/host/http/context.ts", ["src/host/pipeline.ts"]],
      ["src/host/http/router.ts", []],
      ["src/host/main.ts", ["src/host/http/context.ts", "src/host/pipeline.ts"]],
    ]);
    expect(cyclesOf(graph)).toEqual([]);
    expect(folderCyclesOf(graph)).toEqual([["src/host/http", "src/host/pipeline.ts"]]);
  });

  test.each(sources)("%s imports only what its module may", (file) => {
    const module = file.split("/")[1] ?? "";
    const allowed = ALLOWED_IMPORTS[module];
    if (allowed === undefined || allowed === "everything") return;
    const forbidden = importsOf(file)
      .filter((path) => path.startsWith("src/") || path.startsWith("assembly/") || path.startsWith("test/"))
      .map((path) => path.replace(/^src\//, ""))
      .filter((path) => !path.startsWith(`${module}/`) && (module === "contract" || !SHARED_FILES.has(path)))
      .filter(
        (path) =>
          !allowed.some((dependency) =>
            dependency.endsWith(".ts") ? path === dependency : path.startsWith(`${dependency}/`),
          ),
      );
    expect(forbidden).toEqual([]);
  });

  test("assembly/ imports nothing outside assembly/", () => {
    const outside = filesBelow("assembly").flatMap((file) =>
      importsOf(file).filter((path) => !path.startsWith("assembly/")),
    );
    expect(outside).toEqual([]);
  });

  test("reference implementations import nothing from src/ or assembly/", () => {
    const forbidden = filesBelow("test/oracle").flatMap((file) =>
      importsOf(file)
        .filter((path) => path.startsWith("assembly/") || path.startsWith("src/"))
        .map((path) => `${file}: ${path}`),
    );
    expect(forbidden).toEqual([]);
  });

  test("only src/host/http/server.ts and src/host/http/adminServer.ts import node:http; other files import only its types", () => {
    const users = sources.filter((file) =>
      importsOf(file, { typeOnly: false }).some((path) => /^node:(https?2?|http2)$/.test(path)),
    );
    expect(users.toSorted()).toEqual(["src/host/http/adminServer.ts", "src/host/http/server.ts"]);
  });

  test("there are no catch-all modules, and no index.ts inside a module", () => {
    const found = sources.filter(
      (file) => file.split("/").some((part) => CATCH_ALL_NAMES.test(part)) || /^src\/.+\/index\.ts$/.test(file),
    );
    expect(found).toEqual([]);
  });

  test("contract imports no package but typebox", () => {
    const packages = sources
      .filter((file) => file.startsWith("src/contract/"))
      .flatMap((file) => importsOf(file).filter((path) => !path.startsWith("src/")));
    expect([...new Set(packages)]).toEqual(["typebox"]);
  });

  test("the client loads only its own files", () => {
    const loaded = sources
      .filter((file) => file.startsWith("src/client/"))
      .flatMap((file) => importsOf(file, { typeOnly: false }).filter((path) => !path.startsWith("src/client/")));
    expect(loaded).toEqual([]);
  });

  test("the core loads none of the packages that only ingest and host need", () => {
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
      "@stdlib/math-base-special-exp",
      "@stdlib/math-base-special-expm1",
      "@stdlib/math-base-special-ln",
      "@stdlib/math-base-special-log1p",
      "@stdlib/math-base-special-pow",
      "flatbuffers",
      "geographiclib-geodesic",
      "typebox",
      "typebox/compile",
    ]);
  });
});
