import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { atlasCommand } from "../../src/cli/atlas.ts";
import { queryCommand } from "../../src/cli/query.ts";
import { openAtlas } from "../../src/openAtlas.ts";
import { atlasOf } from "../host/hosting.ts";

vi.mock("../../src/openAtlas.ts", () => ({ openAtlas: vi.fn<typeof openAtlas>() }));

let printed = "";
let noticed = "";
beforeEach(() => {
  printed = "";
  noticed = "";
  vi.stubEnv("ISOTHERM_ATLAS", undefined);
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    printed += String(text);
    return true;
  });
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    noticed += String(text);
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  vi.mocked(openAtlas).mockReset();
});

const QUERY = ["--lat=1", "--lon=2", "--hazards=cyclones", "--years=2030", "--scenarios=rcp4p5"];

describe("isotherm query", () => {
  const ask = async (synthetic: boolean, ...flags: string[]): Promise<void> => {
    vi.mocked(openAtlas).mockResolvedValue({ ...atlasOf(), release: "made-1", synthetic });
    await queryCommand().parseAsync(["--atlas", "somewhere", ...QUERY, ...flags], { from: "user" });
  };

  test.each([["--json"], ["--json", "--detail"], ["--detail"]])(
    "says beside the JSON of %s %s that its numbers are invented, and not in it",
    async (...flags) => {
      await ask(true, ...flags);
      expect(noticed).toBe("SYNTHETIC: invented numbers (atlas made-1)\n");
      expect(JSON.parse(printed)).toHaveProperty("results");
    },
  );

  test("says so once, above a table, and never of real numbers", async () => {
    await ask(true);
    expect(noticed).toBe("");
    expect(printed.match(/SYNTHETIC/g)).toHaveLength(1);
    printed = "";
    await ask(false, "--json");
    await ask(false);
    expect(printed + noticed).not.toContain("SYNTHETIC");
  });
});

describe("isotherm atlas", () => {
  test.each(["info", "verify"])("%s of the demo says that there are no files, and what to do", async (what) => {
    await expect(atlasCommand().parseAsync([what, "demo"], { from: "user" })).rejects.toMatchObject({
      code: "atlas_not_found",
      message: expect.stringMatching(/computed, not stored.*isotherm query --atlas demo.*\.\/demo/) as unknown,
    });
  });
});
