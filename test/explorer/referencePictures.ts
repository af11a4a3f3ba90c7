/**
 * Compares parts of the page with pictures in test/fixtures/explorer/. A picture has a text file with the boxes and texts of its
 * elements, and with the major version of the Chromium that drew it. Boxes and texts are always compared, and pixels only if the
 * version is the same, because versions draw text differently.
 *
 * `ISOTHERM_UPDATE_SCREENSHOTS=1` writes the pictures again.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import pixelmatch from "pixelmatch";
import type { Locator } from "playwright-core";
import { PNG } from "pngjs";
import { expect } from "vitest";
import { encodeIndexedPng } from "../../scripts/indexedPng.mjs";

const REFERENCES = new URL("../fixtures/explorer/", import.meta.url);
/** Where the picture and the differing pixels are written if a comparison fails. */
const FAILED = new URL("../../build/pictures/", import.meta.url);
const isUpdate = process.env["ISOTHERM_UPDATE_SCREENSHOTS"] === "1";
if (isUpdate && process.env["CI"] === "true") throw new Error("on CI, pictures are compared and not written");

/** Difference of a color, 0 to 1, above which a pixel differs. Pixels that differ by antialiasing do not count. */
const COLOR_THRESHOLD = 0.1;
/** Share of the pixels that may differ. */
const DIFFERING_SHARE_MAX = 0.0002;
/** CSS pixels by which a box may differ, with the same and with another version of Chromium. */
const BOX_TOLERANCE_PX = { sameVersion: 1, otherVersion: 3 } as const;

interface ElementBox {
  readonly text: string;
  /** CSS pixels, relative to the part of the page: left, top, width, height. */
  readonly box: readonly [number, number, number, number];
}

interface Reference {
  readonly chromiumMajor: number;
  readonly elements: readonly ElementBox[];
}

/** Expects a part of the page to look like the picture of this name. */
export async function expectPicture(part: Locator, name: string): Promise<void> {
  const chromiumMajor = Number.parseInt(part.page().context().browser()?.version() ?? "", 10);
  const shown = { chromiumMajor, elements: await elementsOf(part) };
  // Reduced to the colors of a reference, so that both have the same error.
  const file = encodeIndexedPng(
    PNG.sync.read(await part.screenshot({ animations: "disabled", caret: "hide", scale: "css" })),
  );
  const picture = PNG.sync.read(file);
  if (isUpdate) {
    await mkdir(REFERENCES, { recursive: true });
    await writeFile(new URL(`${name}.json`, REFERENCES), referenceText(shown));
    await writeFile(new URL(`${name}.png`, REFERENCES), file);
    return;
  }
  const reference = JSON.parse(await readFile(new URL(`${name}.json`, REFERENCES), "utf8")) as Reference;
  const isSameVersion = reference.chromiumMajor === chromiumMajor;
  try {
    expectElements(shown.elements, reference.elements, isSameVersion);
    if (isSameVersion) await expectPixels(picture, name);
    else {
      console.warn(
        `${name}: only texts and boxes were compared, because the picture is of Chromium ${reference.chromiumMajor} and this is ${chromiumMajor}`,
      );
    }
  } catch (error) {
    await writeFailed(`${name}.actual.png`, picture);
    throw error;
  }
}

function expectElements(shown: readonly ElementBox[], expected: readonly ElementBox[], isSameVersion: boolean): void {
  expect(shown.map(({ text }) => text)).toEqual(expected.map(({ text }) => text));
  const tolerancePx = isSameVersion ? BOX_TOLERANCE_PX.sameVersion : BOX_TOLERANCE_PX.otherVersion;
  const moved = shown.flatMap(({ text, box }, i) => {
    const before = expected[i]?.box ?? [];
    const isMoved = box.some((edge, at) => Math.abs(edge - (before[at] ?? NaN)) > tolerancePx);
    return isMoved ? [{ text, box, before }] : [];
  });
  expect(moved).toEqual([]);
}

async function expectPixels(picture: PNG, name: string): Promise<void> {
  const reference = PNG.sync.read(await readFile(new URL(`${name}.png`, REFERENCES)));
  const { width, height } = reference;
  expect([picture.width, picture.height]).toEqual([width, height]);
  const difference = new PNG({ width, height });
  const count = pixelmatch(picture.data, reference.data, difference.data, width, height, {
    threshold: COLOR_THRESHOLD,
  });
  if (count <= DIFFERING_SHARE_MAX * width * height) return;
  const file = await writeFailed(`${name}.difference.png`, difference);
  throw new Error(
    `${count} of ${width * height} pixels differ from test/fixtures/explorer/${name}.png; see ${file} and ${name}.actual.png beside it. ` +
      "If the change is intended, run the test with ISOTHERM_UPDATE_SCREENSHOTS=1 and review the picture.",
  );
}

/** Returns the visible elements with a text, a value or a drawing, in the order of the page. */
function elementsOf(part: Locator): Promise<readonly ElementBox[]> {
  return part.evaluate((root) => {
    const origin = root.getBoundingClientRect();
    return [...root.querySelectorAll<HTMLElement>("*")].flatMap((element) => {
      const ownText = [...element.childNodes]
        .flatMap((node) => (node.nodeType === Node.TEXT_NODE ? [node.textContent ?? ""] : []))
        .join("")
        .replaceAll(/\s+/g, " ")
        .trim();
      const isDrawn = ["canvas", "input", "svg"].includes(element.localName);
      if ((ownText === "" && !isDrawn) || !element.checkVisibility()) return [];
      const { left, top, width, height } = element.getBoundingClientRect();
      const edges = [left - origin.left, top - origin.top, width, height].map((edge) => Math.round(edge));
      const text = ownText === "" ? `<${element.localName}>` : ownText;
      return [{ text, box: edges as [number, number, number, number] }];
    });
  });
}

/** One element per line, so that changes can be reviewed. */
function referenceText({ chromiumMajor, elements }: Reference): string {
  const lines = elements.map((element) => `    ${JSON.stringify(element)}`);
  return `{\n  "chromiumMajor": ${chromiumMajor},\n  "elements": [\n${lines.join(",\n")}\n  ]\n}\n`;
}

/** @returns the path of the file, from the root of the repository */
async function writeFailed(file: string, picture: PNG): Promise<string> {
  await mkdir(FAILED, { recursive: true });
  await writeFile(new URL(file, FAILED), PNG.sync.write(picture));
  return `build/pictures/${file}`;
}
