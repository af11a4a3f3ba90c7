import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openIndustryMap } from "../../src/cli/fileIo.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-industry-map-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

const write = async (name: string, content: string | Uint8Array): Promise<string> => {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
};

describe("openIndustryMap", () => {
  test("reads quoted cells, a byte order mark and Windows line ends", async () => {
    const csv = '\uFEFFsystem,code,industry\r\nown,"1,5","Iron\nand steel"\r\n\r\nown,2,Airlines\r\n';
    const map = await openIndustryMap(await write("map.csv", csv));
    expect(map.find("1,5", "own")?.id).toBe("iron_steel");
    expect(map.find("2", "own")?.id).toBe("airlines");
    expect(map.codeCount).toBe(2);
  });

  test("names the lines of all errors", async () => {
    const path = await write("errors.csv", 'code,industry\n1,"Iron\nand steel"\n2,Banks\n1,Airlnes\n');
    await expect(openIndustryMap(path)).rejects.toMatchObject({
      code: "invalid_request",
      items: [
        { detail: expect.stringMatching(/^line 4, column industry: "Banks" matches several/) },
        { detail: expect.stringMatching(/^line 5, column code: "1" is already in line 2/) },
        {
          detail: expect.stringMatching(
            /^line 5, column industry: "Airlnes" is not a known industry \(did you mean Airlines\?\)/,
          ),
        },
      ],
    });
  });

  test("rejects a missing file, an empty file, broken quotes and text that is not UTF-8", async () => {
    await expect(openIndustryMap(join(folder, "absent.csv"))).rejects.toMatchObject({
      code: "configuration_invalid",
    });
    await expect(openIndustryMap(await write("empty.csv", ""))).rejects.toMatchObject({ code: "invalid_request" });
    const broken = await write("broken.csv", 'code,industry\n1,"Airlines\n');
    await expect(openIndustryMap(broken)).rejects.toMatchObject({ message: expect.stringMatching(/quote/) });
    const latin1 = await write("latin1.csv", Uint8Array.of(0x63, 0xe9, 0x0a));
    await expect(openIndustryMap(latin1)).rejects.toMatchObject({ message: expect.stringMatching(/UTF-8/) });
  });
});
