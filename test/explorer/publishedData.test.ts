import { describe, expect, test } from "vitest";
import { atlasAddressOf, configurationAddress, publishedData } from "../../src/explorer/data/publishedData.ts";

const CONFIGURATION = "https://host.test/risk/explorer.json";

describe("the configuration of a published page", () => {
  test("is at the address that the page gives, relative to the page", () => {
    const page = (content: string | null) => ({
      baseURI: "https://host.test/risk/index.html#view=hazards",
      querySelector: (selectors: string) =>
        selectors === 'meta[name="isotherm-explorer"]' && content !== null ? { getAttribute: () => content } : null,
    });
    expect(configurationAddress(page("explorer.json"))).toBe(CONFIGURATION);
    expect(configurationAddress(page(null))).toBeUndefined();
  });

  test("gives the address of the atlas relative to itself, or the demo", () => {
    expect(atlasAddressOf('{"atlas": "atlas/"}', CONFIGURATION)).toBe("https://host.test/risk/atlas/");
    expect(atlasAddressOf('{"atlas": "https://maps.test/a"}', CONFIGURATION)).toBe("https://maps.test/a");
    expect(atlasAddressOf('{"atlas": "demo"}', CONFIGURATION)).toBe("demo");
  });

  test.each(["", "{", "[]", "null", "{}", '{"atlas": ""}', '{"atlas": 1}'])("is rejected if it is %j", (text) => {
    expect(() => atlasAddressOf(text, CONFIGURATION)).toThrow(
      expect.objectContaining({ name: "ExplorerError", code: "configuration_invalid" }) as Error,
    );
  });

  test("is reported if it is missing or cannot be reached", async () => {
    const missing = () => Promise.resolve(new Response("", { status: 404 }));
    await expect(publishedData(CONFIGURATION, { fetch: missing })).rejects.toMatchObject({
      code: "configuration_invalid",
      message: expect.stringContaining("404") as string,
    });
    const unreachable = () => Promise.reject(new TypeError("fetch failed"));
    await expect(publishedData(CONFIGURATION, { fetch: unreachable })).rejects.toMatchObject({ code: "network" });
  });
});
