import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { cyclesOf, filesBelow, folderCyclesOf, graphOf, importsOf } from "../scripts/importGraph.mjs";
import { codeSpansIn, tableRows } from "./documentTables.ts";

/**
 * The modules by layer, as documented in docs/architecture.md. A module may import every lower layer and, within its own
 * layer, the modules named here.
 */
const LAYERS: readonly Readonly<Record<string, readonly string[]>>[] = [
  { validation: [], text: ["validation"], files: [], numerics: [], concurrency: [] },
  { contract: [], kernel: [] },
  { atlas: [], reference: [], tiles: [] },
  { hazard: [], alignment: [], holdings: ["alignment"], company: [] },
  { pool: [], demo: [] },
  { places: [], ingest: [], ledger: [] },
  { client: [] },
  { host: [], explorer: [], cli: ["host"], worker: ["host"] },
];
/** Modules whose dependencies are limited further, because programs load them on their own. */
const LIMITED_IMPORTS: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  client: ["contract/wireTypes.ts"],
  explorer: [
    "contract",
    "tiles",
    "client",
    "concurrency",
    "text",
    "validation",
    "hazard/hazardCatalog.ts",
    "places/readers/coordinates.ts",
    "places/readers/placeColumnNames.ts",
  ],
};
/** Loose files. All modules but `contract` may import the first two; the others assemble the library. */
const COMMON_FILES = ["errors.ts", "version.ts"];
const ASSEMBLY_FILES = ["index.ts", "openAtlas.ts"];
const USERS_OF_ASSEMBLY_FILES = new Set(["host", "explorer", "cli", "worker"]);
const CATCH_ALL_NAMES = /^(utils?|helpers?|types?|common|misc|shared|lib)(\.ts)?$/i;

const sources = filesBelow("src");

describe("dependency rules", () => {
  test("every file under src/ is in a known module", () => {
    const modules = sources.map((file) => file.split("/")[1] ?? "");
    const known = [...LAYERS.flatMap((layer) => Object.keys(layer)), ...COMMON_FILES, ...ASSEMBLY_FILES];
    expect([...new Set(modules)].toSorted()).toEqual(known.toSorted());
  });

  test("docs/architecture.md lists the modules by layer", () => {
    const page = readFileSync("docs/architecture.md", "utf8");
    const listed = tableRows(page, "module").map(([name = "", layer = "", , imports = ""]) => [
      codeSpansIn(name)[0],
      { layer: Number(layer), within: codeSpansIn(imports) },
    ]);
    const rules = LAYERS.flatMap((modules, layer) =>
      Object.entries(modules).map(([name, within]) => [name, { layer, within }] as const),
    );
    expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(rules));
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
    const layer = LAYERS.findIndex((modules) => module in modules);
    if (layer < 0) return;
    const lower = LAYERS.slice(0, layer).flatMap((modules) => Object.keys(modules));
    const allowed = [
      ...(LIMITED_IMPORTS[module] ?? [...lower, ...(LAYERS[layer]?.[module] ?? [])]),
      ...(module === "contract" ? [] : COMMON_FILES),
      ...(USERS_OF_ASSEMBLY_FILES.has(module) ? ASSEMBLY_FILES : []),
    ];
    const forbidden = importsOf(file)
      .filter((path) => path.startsWith("src/") || path.startsWith("assembly/") || path.startsWith("test/"))
      .map((path) => path.replace(/^src\//, ""))
      .filter((path) => path.split("/")[0] !== module)
      .filter((path) => !allowed.some((entry) => path === entry || path.startsWith(`${entry}/`)));
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
      "@stdlib/math-base-special-erfc",
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
