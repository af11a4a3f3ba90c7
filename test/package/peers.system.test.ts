/**
 * Installs the packed package next to the oldest and the newest optional packages that it accepts, and runs each part of
 * it once: the oldest on the oldest supported Node.js, the newest on that of the tests. The tests need dist/ and npm's
 * cache or registry, so they run only in CI or on request.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { packTarball } from "../../scripts/packageTarball.mjs";
import { writeFloodMaps } from "../generatedMaps.ts";
import { type PostgresServer, startPostgres } from "../ledger/postgresServer.ts";
import { startedUrl } from "../startedUrl.ts";

const isRequested = process.env["CI"] === "true" || process.env["ISOTHERM_INSTALL_TEST"] === "1";
if (!isRequested) console.warn("skipped: tests of optional packages; set ISOTHERM_INSTALL_TEST=1 to run them");

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const TIMEOUT_MS = 300_000;
const START_TIMEOUT_MS = 60_000;
const run = promisify(execFile);

const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
  readonly engines: { readonly node: string };
  readonly peerDependencies: Readonly<Record<string, string>>;
};
/** Optional packages that the tests use. */
const PEERS = ["better-sqlite3", "kysely", "pg", "pino", "prom-client", "swagger-ui-dist"];
const rangeOf = (name: string): string => manifest.peerDependencies[name] ?? "";
const oldestOf = (range: string): string => /\d+\.\d+(\.\d+)?/.exec(range)?.[0] ?? "";

const OLDEST_NODE = `node-${process.platform}-${process.arch}@${manifest.engines.node.replace(">=", "")}`;
const OLDEST = [...PEERS.map((name) => `${name}@${oldestOf(rangeOf(name))}`), OLDEST_NODE];
const NEWEST = PEERS.map((name) => `${name}@${rangeOf(name)}`);

let folder: string | undefined;
let tarball: string;
let postgres: PostgresServer;
const QUERY = "latitude=11.9&longitude=43.1&hazards=wildfire&analysis_years=2050&scenarios=rcp8p5";

/** Creates a project with the package and others. */
async function install(name: string, packages: readonly string[], ...flags: readonly string[]): Promise<string> {
  const project = join(folder ?? "", name);
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), "{}");
  const args = ["install", "--prefer-offline", "--no-audit", "--no-fund", ...flags, tarball, ...packages];
  await run("npm", args, { cwd: project });
  return project;
}

describe.skipIf(!isRequested)("the package", { timeout: TIMEOUT_MS }, () => {
  beforeAll(async () => {
    // Not in the system's temporary folder, where Node.js could resolve a stray node_modules.
    folder = mkdtempSync(join(homedir(), ".isotherm-peers-"));
    tarball = packTarball().file;
    postgres = await startPostgres();
  }, TIMEOUT_MS);
  afterAll(async () => {
    await postgres.dispose();
    if (folder !== undefined) rmSync(folder, { recursive: true });
  });

  test("installs next to earlier versions of its optional packages", async () => {
    await install("earlier", ["pino@9", "pg@8.16", "kysely@0.27"], "--dry-run");
  });

  describe.each([
    ["oldest", OLDEST],
    ["newest", NEWEST],
  ])("with the %s optional packages", (name, packages) => {
    let project: string;
    let env: NodeJS.ProcessEnv;
    let node: string;
    const runIn = async (command: string, ...args: readonly string[]): Promise<string> =>
      (await run(command, args, { cwd: project, env })).stdout;

    beforeAll(async () => {
      project = await install(name, packages);
      const installedNode = join(project, "node_modules", OLDEST_NODE.replace(/@.*/, ""), "bin/node");
      node = existsSync(installedNode) ? installedNode : process.execPath;
      env = { ...process.env, PATH: [join(node, ".."), process.env["PATH"]].join(delimiter), NODE_OPTIONS: "" };
    }, TIMEOUT_MS);

    test("loads with import and require()", async () => {
      const program = `
        const { openAtlas } = require("isotherm");
        import("isotherm").then(async (imported) => {
          const atlas = await openAtlas("demo", { workers: 1 });
          const query = { latitude: 14.6, longitude: 121, hazards: ["wildfire"], analysis_years: [2050], scenarios: ["rcp8p5"] };
          const { results } = await atlas.hazardRisk(query);
          await atlas.close();
          const modules = ["ingest", "host", "client"].map((module) => typeof require("isotherm/" + module));
          console.log(process.version, imported.openAtlas === openAtlas, results.length, ...modules);
        });`;
      writeFileSync(join(project, "program.cjs"), program);
      const version = (await runIn(node, "--version")).trim();
      if (name === "oldest") expect(version).toBe(`v${oldestOf(manifest.engines.node)}`);
      expect(await runIn(node, "program.cjs")).toBe(`${version} true 1 object object object\n`);
    });

    test("ingests maps, answers from them, and scores a portfolio", async () => {
      const maps = join(project, "maps");
      mkdirSync(maps);
      writeFloodMaps(maps);
      await runIn("npx", "isotherm", "ingest", "aqueduct-floods", "maps", "--out", "atlas");
      const query =
        "query --atlas atlas --lat 11.9 --lon 43.1 --hazards riverine_floods --years 2030 --scenarios rcp4p5";
      expect(await runIn("npx", "isotherm", ...query.split(" "))).toContain("│ rcp4p5   │ 2030 │");
      const places = "node_modules/isotherm/examples/places.csv";
      const portfolio = `portfolio ${places} scores.csv --atlas demo --hazards wildfire --years 2050 --scenarios rcp8p5`;
      await runIn("npx", "isotherm", ...portfolio.split(" "));
      const lines = (path: string): number => readFileSync(join(project, path), "utf8").trim().split("\n").length;
      expect(lines("scores.csv")).toBe(lines(places));
    });

    test.each(name === "oldest" ? [oldestOf(manifest.engines.node)] : [])(
      "names the version of Node.js that a ledger in SQLite needs, on %s",
      async (version) => {
        const args = ["isotherm", "serve", "--demo", "--data", "data-SQLite"];
        await expect(runIn("npx", ...args)).rejects.toMatchObject({
          code: 1,
          stderr: expect.stringContaining(`A ledger in SQLite needs Node.js 22.14 or later (this is ${version})`),
        });
      },
    );

    test.each(name === "oldest" ? ["PostgreSQL"] : ["SQLite", "PostgreSQL"])(
      "serves with a ledger in %s",
      async (database) => {
        const flags = database === "SQLite" ? [] : ["--database", await postgres.newDatabase()];
        const main = "node_modules/isotherm/dist/cli/main.js";
        const ports = ["--port", "0", "--admin-port", "0"];
        const args = [main, "serve", "--demo", "--data", `data-${database}`, ...ports, ...flags];
        const service = spawn(node, args, { cwd: project, env, stdio: ["ignore", "pipe", "inherit"] });
        let output = "";
        service.stdout.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
        const exit = once(service, "exit");
        try {
          const url = await vi.waitUntil(() => startedUrl(output), { timeout: START_TIMEOUT_MS });
          const { demo_credentials, metrics } = JSON.parse(output.split("\n")[0] ?? "") as Record<string, string>;
          const credentials = JSON.parse(readFileSync(demo_credentials ?? "", "utf8")) as Record<string, string>;
          const headers = {
            "X-API-Key": credentials["api_key"] ?? "",
            "X-Customer-ID": credentials["customer_id"] ?? "",
          };
          expect((await fetch(`${url}/api/v1/hazard-risk?${QUERY}`, { headers })).status).toBe(200);
          expect((await fetch(`${url}/docs`)).status).toBe(200);
          expect(await (await fetch(metrics ?? "")).text()).toMatch(/^isotherm_units_total\{meter="\w+"\} 1$/m);
        } finally {
          service.kill("SIGINT");
        }
        expect(await exit).toEqual([0, null]);
        expect(output).toContain('"status":200');
      },
    );
  });
});
