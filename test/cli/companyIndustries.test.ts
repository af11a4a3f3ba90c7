/** Names and codes of industries in the files of `isotherm company`. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { companyCommand } from "../../src/cli/company.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "isotherm-company-"));
  vi.spyOn(process.stdout, "write").mockReturnValue(true);
});
afterEach(() => {
  vi.restoreAllMocks();
  process.exitCode = undefined;
  rmSync(folder, { recursive: true });
});

interface Line {
  readonly company?: { readonly industry: { readonly id: string; readonly matched_on: string } };
  readonly error?: { readonly code: string; readonly errors: readonly { readonly detail: string }[] };
}

/** Writes a CSV file with the rows and returns the answers. */
async function answersTo(rows: readonly string[], map?: string): Promise<readonly Line[]> {
  writeFileSync(join(folder, "in.csv"), rows.join("\n"));
  if (map !== undefined) writeFileSync(join(folder, "map.csv"), map);
  await companyCommand().parseAsync(
    [
      join(folder, "in.csv"),
      join(folder, "out.ndjson"),
      "--scenarios",
      "NGFS_NDC",
      "--years",
      "2030",
      ...(map === undefined ? [] : ["--industry-map", join(folder, "map.csv")]),
    ],
    { from: "user" },
  );
  const lines = readFileSync(join(folder, "out.ndjson"), "utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as Line);
}

const HEADER = "name,country,industry,industry_classification_system,revenue";
const idsOf = (answers: readonly Line[]): readonly (string | undefined)[] =>
  answers.map(({ company, error }) => company?.industry.id ?? error?.code);

test("codes are read in the system of the column industry_classification_system", async () => {
  const answers = await answersTo([
    HEADER,
    "A,DE,2410,ISIC,1e9",
    "B,DE,24.10,NACE Rev. 2,1e9",
    "C,US,331110,naics,1e9",
    "D,US,Steel,GICS,1e9",
    "E,DE,2410,,1e9",
    "F,US,331110,NAICS 2022,1e9",
    "G,US,15104050,gics,1e9",
  ]);
  expect(idsOf(answers)).toEqual([
    ...Array<string>(4).fill("iron_steel"),
    "industry_unknown",
    "invalid_request",
    "industry_unknown",
  ]);
  expect(answers[1]?.company?.industry.matched_on).toBe("nace");
  expect(answers[4]?.error?.errors[0]?.detail).toMatch(/is a code without its system; write ISIC, NACE or NAICS/);
  expect(answers[5]?.error?.errors[0]?.detail).toMatch(/"NAICS 2022" is an edition whose codes are not supported/);
});

const MAP = "system,code,industry\ngics,1,Steel\nown,1,Airlines\nown,2,Software\n";

test("the map of --industry-map is read in the stated system, also one of the caller's own", async () => {
  const rows = [HEADER, "A,DE,1,gics,1e9", "B,DE,1,own,1e9", "C,DE,2,,1e9"];
  expect(idsOf(await answersTo(rows, MAP))).toEqual(["iron_steel", "airlines", "software"]);
});

test("a code with contradicting rows in the map is refused, together with the other errors of the company", async () => {
  const [contradicting, several] = await answersTo([HEADER, "A,DE,1,,1e9", "B,Atlantis,1,,1e9"], MAP);
  expect(contradicting?.error).toMatchObject({
    code: "industry_unknown",
    errors: [
      {
        pointer: "/industry",
        detail:
          'industry: "1" has several industries in the industry map: Iron and steel (gics); Airlines (own). Send industry_classification_system with the system.',
      },
    ],
  });
  expect(several?.error).toMatchObject({
    code: "invalid_request",
    errors: [{ pointer: "/industry" }, { pointer: "/country" }],
  });
});
