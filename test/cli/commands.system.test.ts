import { afterEach, describe, expect, test, vi } from "vitest";
import { atlasCommand } from "../../src/cli/atlas.ts";
import { queryCommand } from "../../src/cli/query.ts";
import { openAtlas } from "../../src/openAtlas.ts";
import { resultWith, fakeAtlas } from "../host/testHost.ts";
import type { Bounds } from "../../src/contract/wireTypes.ts";
import { useCapturedOutput } from "./capturedOutput.ts";

vi.mock("../../src/openAtlas.ts", () => ({ openAtlas: vi.fn<typeof openAtlas>() }));

const printed = useCapturedOutput();
afterEach(() => {
  vi.mocked(openAtlas).mockReset();
});

const QUERY = ["--lat=1", "--lon=2", "--hazards=cyclones", "--years=2030", "--scenarios=rcp4p5"];

const PARSED_QUERY = {
  latitude: 1,
  longitude: 2,
  hazards: ["cyclones"],
  analysis_years: [2030],
  scenarios: ["rcp4p5"],
} as const;

describe("isotherm query", () => {
  const query = async (synthetic: boolean, ...flags: string[]): Promise<void> => {
    vi.mocked(openAtlas).mockResolvedValue({ ...fakeAtlas(), release: "synthetic-1", synthetic });
    await queryCommand().parseAsync(["--atlas", "somewhere", ...QUERY, ...flags], { from: "user" });
  };

  test.each([["--json"], ["--json", "--detail"], ["--detail"]])(
    "prints the synthetic notice on stderr for %s %s and only JSON on stdout",
    async (...flags) => {
      await query(true, ...flags);
      expect(printed.stderr).toBe("SYNTHETIC: not real data (atlas synthetic-1)\n");
      expect(JSON.parse(printed.stdout)).toHaveProperty("results");
    },
  );

  test("prints the synthetic notice once above a table, and never for real data", async () => {
    await query(true);
    expect(printed.stderr).toBe("");
    expect(printed.stdout.match(/SYNTHETIC/g)).toHaveLength(1);
    printed.stdout = "";
    await query(false, "--json");
    await query(false);
    expect(printed.stdout + printed.stderr).not.toContain("SYNTHETIC");
  });
});

describe("the table of isotherm query", () => {
  const year = {
    analysis_year: 2030,
    metrics: { intensity: 0.4, probability: 0.1, total_hazard: 0.04 },
  };
  const tableOf = async (bounds?: Bounds): Promise<string> => {
    const { location, results } = resultWith({ ...PARSED_QUERY }, () => ({
      ...year,
      ...(bounds === undefined ? {} : { bounds }),
    }));
    vi.mocked(openAtlas).mockResolvedValue(fakeAtlas(() => Promise.resolve({ location, results })));
    printed.stdout = "";
    await queryCommand().parseAsync(["--atlas", "somewhere", ...QUERY, "--total-hazard"], { from: "user" });
    return printed.stdout;
  };

  test("marks bounds and explains the signs", async () => {
    const unmarked = await tableOf();
    expect(unmarked).toContain("│ rcp4p5   │ 2030 │       0.4 │         0.1 │         0.04 │");
    expect(unmarked).not.toContain("mark");
    const atLeast = await tableOf({
      probability: { bound: "at_least", limit: 0.1 },
      total_hazard: { bound: "at_least", limit: 0.04 },
    });
    expect(atLeast).toContain("│ rcp4p5   │ 2030 │       0.4 │      >= 0.1 │      >= 0.04 │");
    expect(atLeast).toContain("\n>= and <= mark bounds: the source maps have no return periods beyond them.\n");
    const atMost = await tableOf({ probability: { bound: "at_most", limit: 0.001 } });
    expect(atMost).toContain("│    <= 0.001 │         0.04 │");
    const indeterminate = await tableOf({ probability: { bound: "indeterminate" } });
    expect(indeterminate).toContain("│       0.1 ? │");
    expect(indeterminate).toContain(
      "\n? marks the difference of two bounds: the actual change may be larger or smaller.\n",
    );
    expect(indeterminate).not.toContain(">=");
  });
});

describe("isotherm atlas", () => {
  test.each(["info", "verify"])(
    "%s explains that the demo atlas has no files, and names alternatives",
    async (subcommand) => {
      await expect(atlasCommand().parseAsync([subcommand, "demo"], { from: "user" })).rejects.toMatchObject({
        code: "atlas_not_found",
        message: expect.stringMatching(/computed and has no files.*isotherm query --atlas demo.*\.\/demo/) as unknown,
      });
    },
  );
});
