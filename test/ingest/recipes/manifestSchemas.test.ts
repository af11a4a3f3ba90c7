import { readdir, readFile, writeFile } from "node:fs/promises";
import { Compile } from "typebox/compile";
import { describe, expect, test } from "vitest";
import { MANIFEST_RECIPES, manifestSchemaText } from "../../../src/ingest/recipes/recipeList.ts";

const FOLDER = new URL("../../../docs/schemas/", import.meta.url);

const layers = (layer: Readonly<Record<string, unknown>>): unknown => ({
  hazard: "cyclones",
  source: { name: "STORM", licence: "CC0" },
  layers: [{ scenario: "baseline", year: 1980, return_period_years: 100, file: "rp100.tif", ...layer }],
});
const VALID = {
  layers: layers({}),
  "fire-weather": {
    source: { name: "FWI", licence: "CC BY 4.0" },
    groups: [{ scenario: "baseline", year: 1980, years: [1971, 2000], daily: { files: ["a*.nc"], variable: "FWI" } }],
  },
  "wind-events": {
    source: { name: "Storms", licence: "CC0" },
    groups: [{ scenario: "baseline", year: 1980, span_years: 1000, events: { files: "*.nc", missing: "calm" } }],
  },
} as const;

describe.each(MANIFEST_RECIPES)("the published schema of the manifest of %s", (recipe) => {
  test("is the one that the recipe checks (update: ISOTHERM_UPDATE_SCHEMAS=1)", async () => {
    const file = new URL(`${recipe}-manifest.json`, FOLDER);
    const text = manifestSchemaText(recipe);
    if (process.env["ISOTHERM_UPDATE_SCHEMAS"] === "1") await writeFile(file, text);
    expect(await readFile(file, "utf8")).toBe(text);
  });

  test("accepts a manifest that refers to it, and describes every member", () => {
    const schema = JSON.parse(manifestSchemaText(recipe)) as Record<string, unknown>;
    expect(Compile(schema).Check(Object.assign({ $schema: recipe }, VALID[recipe]))).toBe(true);
    expect(Compile(schema).Check(Object.assign({ extra: 1 }, VALID[recipe]))).toBe(false);
    const undescribed: string[] = [];
    const visit = (node: unknown, path: string): void => {
      if (typeof node !== "object" || node === null) return;
      const { properties = {}, ...others } = node as { readonly properties?: Readonly<Record<string, unknown>> };
      for (const [name, member] of Object.entries(properties)) {
        const hasDescription = Object.hasOwn(member as object, "description");
        if (!hasDescription && !["options", "layers", "groups"].includes(name)) undescribed.push(`${path}/${name}`);
        visit(member, `${path}/${name}`);
      }
      for (const [name, value] of Object.entries(others)) visit(value, `${path}/${name}`);
    };
    visit(schema, "");
    expect(undescribed).toEqual([]);
  });
});

test("rejects a wrong member of a layer", () => {
  const check = (layer: Readonly<Record<string, unknown>>): boolean =>
    Compile(JSON.parse(manifestSchemaText("layers")) as Record<string, unknown>).Check(layers(layer));
  expect(check({ band: 0 })).toBe(false);
  expect(check({ scenario: "rcp9" })).toBe(false);
  expect(check({ band: 2, select: { time: "2050" } })).toBe(true);
});

test("there is no schema of a manifest without a recipe", async () => {
  expect((await readdir(FOLDER)).filter((name) => name.endsWith("-manifest.json")).toSorted()).toEqual(
    MANIFEST_RECIPES.map((name) => `${name}-manifest.json`).toSorted(),
  );
});
