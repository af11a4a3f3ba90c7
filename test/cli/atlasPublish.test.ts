import { mkdir, readdir, readFile, stat, truncate, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { type PublishParts, publishAtlas } from "../../src/cli/atlasPublish.ts";
import { hashFile } from "../../src/files/files.ts";
import { openAtlas } from "../../src/index.ts";
import { folder, out, useIngestFolder } from "../ingest/ingestFixture.ts";
import { writeFloodAtlas } from "./atlasFixture.ts";

const PAGE =
  '<!doctype html>\n<html>\n  <head>\n    <meta charset="utf-8" />\n    <title>Isotherm</title>\n  </head>\n' +
  '  <body><noscript>See <a href="./openapi.json">the API</a>.</noscript></body>\n</html>\n';
const QUERY = {
  latitude: 15.15,
  longitude: 12.35,
  hazards: ["riverine_floods"],
  analysis_years: [2030],
  scenarios: ["rcp4p5"],
} as const;

useIngestFolder();

let site: string;
let explorerFolder: string;
beforeEach(async () => {
  await writeFloodAtlas();
  site = join(folder, "public/site");
  explorerFolder = join(folder, "explorer");
  await mkdir(join(explorerFolder, "explorer"), { recursive: true });
  await writeFile(join(explorerFolder, "index.html"), PAGE);
  await writeFile(join(explorerFolder, "explorer/main-12345678.js"), "export {};\n");
});

const publish = (request: Partial<Parameters<typeof publishAtlas>[0]> = {}, parts: Partial<PublishParts> = {}) =>
  publishAtlas({ atlas: out, out: site, explorer: true, ...request }, { explorerFolder, ...parts });

/** A file system without hard links. */
const noLinks: Partial<PublishParts> = {
  link: () => Promise.reject(Object.assign(new Error("cross-device link"), { code: "EXDEV" })),
};

async function namesBelow(path: string): Promise<readonly string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => relative(path, join(parentPath, name))).toSorted();
}

async function tilesFile(): Promise<string> {
  const name = (await readdir(out)).find((file) => file.endsWith(".tiles"));
  if (name === undefined) throw new Error("the atlas must have tiles");
  return join(out, name);
}

async function expectNothingPublished(): Promise<void> {
  const names = await readdir(join(folder, "public")).catch(() => []);
  expect(names).toEqual([]);
}

describe("isotherm atlas publish", () => {
  test("writes the page, its configuration and the atlas, and lists them with their checksums", async () => {
    const report = await publish();
    const names = await namesBelow(site);
    const atlasNames = (await readdir(out)).filter((name) => !name.startsWith("."));
    expect(names).toEqual(
      [
        ...atlasNames.map((name) => `atlas/${name}`),
        "explorer.json",
        "explorer/main-12345678.js",
        "index.html",
        "publication.json",
      ].toSorted(),
    );
    expect(report).toMatchObject({ folder: site, release: "test-1", explorer: true, files: names.length, copied: 0 });
    expect(report.linked).toBe(atlasNames.length - 1);
    const { files, release } = JSON.parse(await readFile(join(site, "publication.json"), "utf8"));
    expect(release).toBe("test-1");
    for (const { name, size_bytes, sha256 } of files) {
      expect([size_bytes, sha256]).toEqual([(await stat(join(site, name))).size, await hashFile(join(site, name))]);
    }
    expect(files.map(({ name }: { readonly name: string }) => name).toSorted()).toEqual(
      names.filter((name) => name !== "publication.json"),
    );
  });

  test("gives the page a policy that browsers accept in a page, and the address of the atlas", async () => {
    await publish();
    const html = await readFile(join(site, "index.html"), "utf8");
    const policy = /<meta http-equiv="Content-Security-Policy" content="([^"]+)" \/>/.exec(html)?.[1];
    expect(policy).toContain("default-src 'none'; script-src 'self' 'wasm-unsafe-eval'");
    expect(policy).not.toContain("frame-ancestors");
    expect(html.indexOf("Content-Security-Policy")).toBeLessThan(html.indexOf("<title>"));
    expect(html).toContain('<meta name="isotherm-explorer" content="explorer.json" />');
    expect(html).not.toContain("openapi.json");
    expect(JSON.parse(await readFile(join(site, "explorer.json"), "utf8"))).toEqual({
      kind: "published",
      atlas: "atlas/",
    });
  });

  test.each([
    ["linked", {}],
    ["copied", noLinks],
  ])("publishes an atlas without a page: its files are %s and give the same answers", async (kind, parts) => {
    const report = await publish({ explorer: false }, parts);
    expect(report[kind as "linked" | "copied"]).toBe(3);
    expect(await namesBelow(site)).toHaveLength(5);
    const [original, published] = [await openAtlas(out), await openAtlas(site)];
    const query = { ...QUERY, hazards: [...QUERY.hazards], analysis_years: [2030], scenarios: [...QUERY.scenarios] };
    expect(await published.hazardRisk(query)).toEqual(await original.hazardRisk(query));
    expect(published.contentHash).toBe(original.contentHash);
    await original.close();
    await published.close();
  });

  test("reports the bytes that it has verified", async () => {
    const reports: (readonly [number, number])[] = [];
    await publish({ onProgress: (done, total) => reports.push([done, total]) });
    const { files } = JSON.parse(await readFile(join(site, "publication.json"), "utf8"));
    const packBytes = files
      .filter(({ name }: { readonly name: string }) => /\.(root|pyramid|tiles)$/.test(name))
      .reduce((sum: number, { size_bytes }: { readonly size_bytes: number }) => sum + size_bytes, 0);
    expect(reports.at(-1)).toEqual([packBytes, packBytes]);
  });

  test("replaces an earlier publication, also by one without the explorer", async () => {
    await publish();
    await publish({ explorer: false });
    expect((await namesBelow(site)).filter((name) => name.endsWith(".html"))).toEqual([]);
    await publish();
    expect(await namesBelow(site)).toContain("index.html");
    expect(await readdir(join(folder, "public"))).toEqual(["site"]);
  });

  test("publishes into an empty folder", async () => {
    await mkdir(site, { recursive: true });
    await publish();
    expect(await namesBelow(site)).toContain("index.html");
  });

  test.each(["notes.txt", "explorer/notes.txt"])("rejects a folder with the foreign file %s", async (name) => {
    await publish();
    await writeFile(join(site, name), "mine");
    await expect(publish()).rejects.toMatchObject({
      code: "configuration_invalid",
      message: expect.stringContaining(`it contains ${name}`) as string,
    });
    expect(await readFile(join(site, name), "utf8")).toBe("mine");
    expect(await readdir(join(folder, "public"))).toEqual(["site"]);
  });

  test("keeps a file that appears in the folder while it publishes, and the earlier publication", async () => {
    await publish();
    const before = await namesBelow(site);
    const link = async (): Promise<void> => {
      await writeFile(join(site, "notes.txt"), "mine");
      throw Object.assign(new Error("cross-device link"), { code: "EXDEV" });
    };
    await expect(publish({}, { link })).rejects.toThrow("it contains notes.txt");
    expect(await namesBelow(site)).toEqual([...before, "notes.txt"].toSorted());
    expect(await readdir(join(folder, "public"))).toEqual(["site"]);
  });

  test("rejects a folder that was not published, such as the atlas itself, and a file", async () => {
    await expect(publish({ out })).rejects.toThrow("must be a new or empty folder");
    const file = join(folder, "file");
    await writeFile(file, "");
    await expect(publish({ out: file })).rejects.toThrow("must be a folder, and it is a file");
  });

  test("rejects an atlas with a changed or truncated file, and publishes nothing", async () => {
    const file = await tilesFile();
    const bytes = await readFile(file);
    const damaged = Uint8Array.from(bytes);
    damaged[0] = (damaged[0] ?? 0) ^ 1;
    await writeFile(file, damaged);
    await expect(publish()).rejects.toMatchObject({
      code: "atlas_unavailable",
      message: expect.stringContaining("its SHA-256 differs from that in the catalog") as string,
    });
    await writeFile(file, bytes);
    await truncate(file, bytes.length - 1);
    await expect(publish()).rejects.toThrow(`it has ${bytes.length - 1} bytes instead of the ${bytes.length}`);
    await expectNothingPublished();
  });

  test("rejects copies for which there is not enough space, and publishes nothing", async () => {
    const full = { ...noLinks, freeBytesOf: () => Promise.resolve(10) };
    await expect(publish({}, full)).rejects.toThrow(/must have \d+ bytes of free space .* \(it has 10\)/);
    await expectNothingPublished();
  });

  test("publishes the demo with the explorer only", async () => {
    const report = await publish({ atlas: "demo" });
    expect(report.release).toBeUndefined();
    expect(JSON.parse(await readFile(join(site, "explorer.json"), "utf8"))).toMatchObject({ atlas: "demo" });
    expect(await namesBelow(site)).not.toContain("atlas/atlas.json");
    await expect(publish({ atlas: "demo", explorer: false })).rejects.toThrow("Publish it with --explorer");
  });

  test("rejects an address, a folder without an atlas, and an installation without the explorer", async () => {
    await expect(publish({ atlas: "https://maps.test/atlas" })).rejects.toThrow("only an atlas in a folder");
    await expect(publish({ atlas: join(folder, "nowhere") })).rejects.toMatchObject({ code: "atlas_not_found" });
    const parts = { explorerFolder: join(folder, "nowhere") };
    await expect(publish({}, parts)).rejects.toThrow("this installation has no explorer");
    await expectNothingPublished();
  });
});
