import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { parsePlaceFileOptions } from "../src/places/scores/placeOptions.ts";

/** Runs the scripts of docs/scale.md with programs that record their arguments instead of scoring. */
const ROOT = fileURLToPath(new URL("..", import.meta.url));
const CLI = join(ROOT, "dist/cli/main.js");
const PAGES = { scale: read("docs/scale.md"), places: read("docs/places.md") };
const run = promisify(execFile);

function read(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

/** Returns the code blocks of a section. */
function blocks(page: string, heading: string, language: string): readonly string[] {
  const section = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? "";
  return [...section.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, "g"))].map(([, code = ""]) => code);
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "isotherm-scale-"));
  mkdirSync(join(folder, "bin"));
  writeProgram(
    "isotherm",
    `#!/bin/sh\nfor word in "$@"; do printf '%s ' "$word"; done >> "${folder}/log"; echo >> "${folder}/log"\n`,
  );
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function writeProgram(name: string, script: string): void {
  writeFileSync(join(folder, "bin", name), script);
  chmodSync(join(folder, "bin", name), 0o755);
}

/** Runs a script and returns the arguments of each `isotherm`, joined by spaces. */
async function isothermCalls(
  shell: string,
  script: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const path = `${join(folder, "bin")}:${process.env["PATH"] ?? ""}`;
  writeFileSync(join(folder, "script"), script);
  await run(shell, ["script"], { cwd: folder, env: { ...process.env, ...variables, PATH: path } });
  const log = readFileSync(join(folder, "log"), "utf8");
  return log
    .trimEnd()
    .split("\n")
    .map((line) => line.trimEnd());
}

const shardOf = (call: string): string | undefined => /--shard (\S+)/.exec(call)?.[1];

describe("the examples of docs/scale.md", () => {
  test("GNU parallel scores each part once and merges them", async () => {
    // Runs the command for each line of standard input, as parallel does.
    writeProgram(
      "parallel",
      '#!/bin/sh\nfor command in "$@"; do :; done\nwhile read -r item; do sh -c "$(printf %s "$command" | sed "s/{}/$item/g")"; done\n',
    );
    const [script = ""] = blocks(PAGES.scale, "GNU parallel", "sh");
    for (let part = 1; part <= 8; part++) writeFileSync(join(folder, `part-${part}.csv`), "");
    const calls = await isothermCalls("sh", script);
    expect(calls.slice(0, -1)).toEqual(
      Array.from(
        { length: 8 },
        (_, i) =>
          `portfolio sites.csv part-${i + 1}.csv --atlas data/atlas --options options.json --workers 1 --shard ${i + 1}/8 --json`,
      ),
    );
    const parts = Array.from({ length: 8 }, (_, i) => `part-${i + 1}.csv`);
    expect(calls.at(-1)).toBe(`portfolio merge scores.csv ${parts.join(" ")}`);
  });

  test("a Slurm array scores the part of its task, and the merge depends on the array", async () => {
    const [score = "", submit = ""] = blocks(PAGES.scale, "Slurm", "sh");
    const size = Number(/--array=1-(\d+)/.exec(score)?.[1]);
    // As in an array with only the failed tasks.
    const variables = { SCRATCH: "/scratch", SLURM_ARRAY_TASK_COUNT: "2", SLURM_CPUS_PER_TASK: "4" };
    let calls: readonly string[] = [];
    for (let task = 1; task <= size; task++) {
      calls = await isothermCalls("bash", score, { ...variables, SLURM_ARRAY_TASK_ID: String(task) });
    }
    expect(calls.map(shardOf)).toEqual(Array.from({ length: size }, (_, i) => `${i + 1}/${size}`));
    expect(calls[2]).toContain("/scratch/sites.parquet /scratch/part-3.parquet --atlas /scratch/atlas");
    rmSync(join(folder, "log"));
    // Runs the wrapped command, and prints the number of a job.
    writeProgram(
      "sbatch",
      `#!/bin/sh\necho 77\nfor word in "$@"; do wrapped=$word; done\ncase "$1" in --dependency=*) printf '%s\\n' "$1" >> "${folder}/log"; sh -c "$wrapped";; esac\n`,
    );
    for (const part of [1, 2]) writeFileSync(join(folder, `part-${part}.parquet`), "");
    expect(await isothermCalls("bash", submit, { SCRATCH: folder })).toEqual([
      "--dependency=afterok:77",
      `portfolio merge ${folder}/scores.parquet ${folder}/part-1.parquet ${folder}/part-2.parquet`,
    ]);
  });

  test("the pods of the Kubernetes Job score each part once, to the volume that the merge reads", async () => {
    const [manifest = ""] = blocks(PAGES.scale, "Kubernetes", "yaml");
    const documents = parseAllDocuments(manifest);
    expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([]);
    const [score, merge] = documents.map((document) => document.toJS() as KubernetesJob);
    expect(score).toMatchObject({ apiVersion: "batch/v1", kind: "Job", spec: { completionMode: "Indexed" } });
    const count = score?.spec.completions ?? 0;
    let calls: readonly string[] = [];
    for (let index = 0; index < count; index++) {
      calls = await isothermCalls("sh", scriptOf(score), { JOB_COMPLETION_INDEX: String(index) });
    }
    expect(calls.map(shardOf)).toEqual(Array.from({ length: count }, (_, i) => `${i + 1}/${count}`));
    expect(calls.map((call) => call.split(" ")[2])).toEqual(
      Array.from({ length: count }, (_, i) => `/portfolio/part-${i + 1}.parquet`),
    );
    expect(scriptOf(merge)).toContain("portfolio merge /portfolio/scores.parquet /portfolio/part-*.parquet");
    for (const job of [score, merge]) {
      const { containers, volumes } = job?.spec.template.spec ?? { containers: [], volumes: [] };
      expect(containers[0]?.volumeMounts).toEqual([{ name: "portfolio", mountPath: "/portfolio" }]);
      expect(volumes).toEqual([{ name: "portfolio", persistentVolumeClaim: { claimName: "portfolio" } }]);
    }
  });
});

interface KubernetesJob {
  readonly spec: {
    readonly completions?: number;
    readonly template: {
      readonly spec: {
        readonly containers: readonly { readonly args: readonly string[]; readonly volumeMounts: unknown }[];
        readonly volumes: unknown;
      };
    };
  };
}

function scriptOf(job: KubernetesJob | undefined): string {
  return job?.spec.template.spec.containers[0]?.args[0] ?? "";
}

describe("options of isotherm portfolio in the documentation", () => {
  test("exist", async () => {
    const helps = await Promise.all(
      [["portfolio"], ["portfolio", "merge"], ["portfolio", "summary"]].map(
        async (words) => (await run(process.execPath, [CLI, ...words, "--help"])).stdout,
      ),
    );
    const known = new Set(helps.join("\n").match(/--[a-z][a-z-]*/g));
    // Options of other programs.
    const others = new Set([
      "--array",
      "--halt",
      "--retries",
      "--joblog",
      "--resume-failed",
      "--keep-curves",
      "--parsable",
      "--dependency",
      "--cpus-per-task",
      "--mem",
      "--wrap",
      "--for",
      "--timeout",
    ]);
    const used = new Set(
      `${PAGES.places}\n${PAGES.scale.replaceAll(/^#SBATCH .*$/gm, "")}`
        .match(/--[a-z][a-z-]*/g)
        ?.filter((name) => !others.has(name)),
    );
    expect([...used].filter((name) => !known.has(name))).toEqual([]);
    expect(used.size).toBeGreaterThan(20);
  });

  test("are all documented", async () => {
    for (const words of [["portfolio"], ["portfolio", "merge"], ["portfolio", "summary"]]) {
      const { stdout } = await run(process.execPath, [CLI, ...words, "--help"]);
      const names = [...stdout.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, name = ""]) => name);
      const pages = `${PAGES.places}${PAGES.scale}`;
      expect(names.filter((name) => !["--version", "--help"].includes(name) && !pages.includes(name))).toEqual([]);
    }
  });

  test("in the example of a JSON file are valid", () => {
    const [json = ""] = blocks(PAGES.places, "Options", "json");
    const options = JSON.parse(json) as object;
    expect(parsePlaceFileOptions(options)).toEqual(options);
    expect(Object.keys(options).length).toBeGreaterThan(5);
  });
});
