/**
 * Installs the packed package with npm into an empty project and a global prefix, as users do. The tests need dist/ and
 * npm's cache or registry, so they run only in CI or on request.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { packTarball } from "../../scripts/packageTarball.mjs";

const isRequested = process.env["CI"] === "true" || process.env["ISOTHERM_INSTALL_TEST"] === "1";
if (!isRequested) console.warn("skipped: package installation tests; set ISOTHERM_INSTALL_TEST=1 to run them");

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const NODE_MODULES = join(ROOT, "node_modules");
const run = promisify(execFile);
const TIMEOUT_MS = 300_000;

const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
};
const MODULES = ["isotherm", "isotherm/ingest", "isotherm/host", "isotherm/client"];

let folder: string | undefined;
let tarball: string;
let project: string;

/** Runs a command in the project and returns its standard output. Fails if it prints anything on standard error. */
async function runQuietly(command: string, ...args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await run(command, args, { cwd: project });
  // npm may warn about the configuration of the machine.
  expect(stderr.replaceAll(/^npm warn .*\n/gm, "")).toBe("");
  return stdout;
}

/** Runs a program in the project and returns the JSON that it prints. */
async function evaluate(name: string, program: string): Promise<unknown> {
  writeFileSync(join(project, name), program);
  return JSON.parse(await runQuietly(process.execPath, name));
}

describe.skipIf(!isRequested)("an installed package", { timeout: TIMEOUT_MS }, () => {
  beforeAll(async () => {
    // Not in the system's temporary folder, where Node.js could resolve a stray node_modules.
    folder = mkdtempSync(join(homedir(), ".isotherm-install-"));
    tarball = packTarball().file;
    project = join(folder, "project");
    mkdirSync(project);
    writeFileSync(join(project, "package.json"), "{}");
    await run("npm", ["install", "--prefer-offline", tarball], { cwd: project });
  }, TIMEOUT_MS);
  afterAll(() => {
    if (folder !== undefined) rmSync(folder, { recursive: true });
  });

  test("consists of the package and its dependencies", () => {
    const lock = JSON.parse(readFileSync(join(project, "node_modules/.package-lock.json"), "utf8")) as {
      readonly packages: Readonly<Record<string, { readonly hasInstallScript?: boolean }>>;
    };
    const expected = ["isotherm", ...Object.keys(manifest.dependencies)].map((name) => `node_modules/${name}`);
    expect(Object.keys(lock.packages).toSorted()).toEqual(expected.toSorted());
    expect(Object.values(lock.packages).filter(({ hasInstallScript }) => hasInstallScript === true)).toEqual([]);
  });

  test("provides the same exports to import and require()", async () => {
    const program = `
      import { createRequire } from "node:module";
      const require = createRequire(import.meta.url);
      const haveSameExports = [];
      for (const name of ${JSON.stringify(MODULES)}) {
        const [imported, required] = [await import(name), require(name)];
        haveSameExports.push(Object.keys(imported).length > 0 && Object.keys(imported).every((key) => imported[key] === required[key]));
      }
      console.log(JSON.stringify(haveSameExports));`;
    expect(await evaluate("imported.mjs", program)).toEqual(MODULES.map(() => true));
    const commonJs = `console.log(JSON.stringify(typeof require("isotherm").openAtlas));`;
    expect(await evaluate("required.cjs", commonJs)).toBe("function");
  });

  test("samples the demo on a worker thread", async () => {
    const program = `
      import { openAtlas } from "isotherm";
      const atlas = await openAtlas("demo", { workers: 1 });
      const count = 100_000;
      const { values } = await atlas.sample({
        hazard: "wildfire",
        layers: [{ scenario: "rcp8p5", analysisYear: 2050, metric: "intensity" }],
        latitudes: new Float64Array(count).fill(38.5),
        longitudes: new Float64Array(count).fill(-121.5),
      });
      await atlas.close();
      console.log(JSON.stringify([values.length, values[0] > 0 && values[0] === values[count - 1]]));`;
    expect(await evaluate("sample.mjs", program)).toEqual([100_000, true]);
  });

  test("has a command that works through npx", async () => {
    expect(await runQuietly("npx", "isotherm", "--version")).toBe(`${manifest.version}\n`);
    const query = "query --atlas demo --lat 14.6 --lon 121 --hazards wildfire --years 2050 --scenarios rcp8p5".split(
      " ",
    );
    expect(await runQuietly("npx", "isotherm", ...query)).toContain("│ rcp8p5   │ 2050 │");
    const csv = join(project, "node_modules/isotherm/examples/portfolio.csv");
    const { stdout } = await run("npx", ["isotherm", "align", csv, "-"], { cwd: project });
    expect(stdout).toMatch(/^\S+,.*\n\S/);
  });

  test("has a command that names the version of Node.js that it needs", async () => {
    const main = "node_modules/isotherm/dist/cli/main.js";
    const olderNode = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } })`;
    const args = ["--import", `data:text/javascript,${olderNode}`, main, "--help"];
    await expect(run(process.execPath, args, { cwd: project })).rejects.toMatchObject({
      code: 1,
      stdout: "",
      stderr: "isotherm: Node.js 22.12 or later is required (this is 20.20.2).\n",
    });
  });

  test("has a command that works in a global prefix", async () => {
    const prefix = join(project, "../prefix");
    await run("npm", ["install", "--prefer-offline", "--global", "--prefix", prefix, tarball]);
    expect(await runQuietly(join(prefix, "bin/isotherm"), "--version")).toBe(`${manifest.version}\n`);
  });

  test.each([
    ["node16", "node16"],
    ["nodenext", "nodenext"],
    ["preserve", "bundler"],
  ])("type-checks with module %s and moduleResolution %s", async (module, moduleResolution) => {
    linkPackages(["@types/node", "undici-types"]);
    const consumer = `
      import { type Atlas, Fault, type HazardQuery, openAtlas } from "isotherm";
      import { ingestLayers } from "isotherm/ingest";
      import { openLedger, serve } from "isotherm/host";
      import { IsothermClient } from "isotherm/client";
      export const atlas: Promise<Atlas> = openAtlas("demo");
      export const codeOf = (error: unknown): string => (error instanceof Fault ? error.code : "");
      export const client: IsothermClient = new IsothermClient({ baseUrl: "http://127.0.0.1", apiKey: "" });
      export type Latitude = HazardQuery["latitude"];
      export { ingestLayers, openLedger, serve };
      // @ts-expect-error An atlas has an address.
      void openAtlas(1);`;
    const options = { module, moduleResolution, target: "es2022", strict: true, noEmit: true, types: ["node"] };
    // TypeScript rejects ES modules in CommonJS files with `module: node16`.
    const files = [`${module}.mts`, ...(module === "node16" ? [] : [`${module}.cts`])];
    for (const file of files) writeFileSync(join(project, file), consumer);
    const config = join(project, `tsconfig.${module}.json`);
    writeFileSync(config, JSON.stringify({ compilerOptions: { ...options, skipLibCheck: false }, files }));
    const { stdout } = await run(process.execPath, [join(NODE_MODULES, "typescript/bin/tsc"), "-p", config]).catch(
      (error: unknown) => error as { readonly stdout: string },
    );
    expect(stdout).toBe("");
  });
});

/** Makes packages of the repository available in the project. */
function linkPackages(names: readonly string[]): void {
  for (const name of names) {
    const link = join(project, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    if (!existsSync(link)) symlinkSync(join(NODE_MODULES, name), link);
  }
}
