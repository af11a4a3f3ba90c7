/** Chromium that draws text with the same fonts, and in the same way, on every machine. */
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { describe } from "vitest";
import { describeInChromium, launchChromium } from "./chromium.ts";

/** Fonts of the Debian package fonts-dejavu-core, which .ci/installTools installs. Other packages add fonts to the folder. */
const FONT_FOLDER = "/usr/share/fonts/truetype/dejavu";
const FONT_FILES = ["DejaVuSans.ttf", "DejaVuSans-Bold.ttf", "DejaVuSansMono.ttf", "DejaVuSansMono-Bold.ttf"].map(
  (name) => join(FONT_FOLDER, name),
);
const areAvailable = FONT_FILES.every((file) => existsSync(file));
if (!areAvailable) {
  if (process.env["CI"] === "true")
    throw new Error(`the fonts of fonts-dejavu-core are required on CI in ${FONT_FOLDER}`);
  console.warn(`skipped: no fonts in ${FONT_FOLDER} (install fonts-dejavu-core), so pictures are not compared`);
}

/** Declares a suite that needs Chromium and the fonts. */
export const describeWithFixedFonts = areAvailable ? describeInChromium : describe.skip;

const FLAGS = [
  "--font-render-hinting=none",
  "--disable-lcd-text",
  "--disable-font-subpixel-positioning",
  "--force-color-profile=srgb",
  "--force-device-scale-factor=1",
  "--hide-scrollbars",
];

/** Only these fonts exist, with gray antialiasing and without hinting; DejaVu Sans replaces families that do not. */
function fontConfiguration(cacheFolder: string): string {
  const rendering = { antialias: "true", hinting: "false", autohint: "false", embeddedbitmap: "false" };
  return [
    `<?xml version="1.0"?>`,
    `<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">`,
    `<fontconfig><dir>${FONT_FOLDER}</dir><cachedir>${cacheFolder}</cachedir>`,
    `<selectfont><rejectfont><glob>*</glob></rejectfont>`,
    `<acceptfont>${FONT_FILES.map((file) => `<glob>${file}</glob>`).join("")}</acceptfont></selectfont>`,
    `<alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>`,
    `<match target="pattern"><edit name="family" mode="append_last"><string>DejaVu Sans</string></edit></match>`,
    `<match target="font">`,
    ...Object.entries(rendering).map(
      ([name, value]) => `<edit name="${name}" mode="assign"><bool>${value}</bool></edit>`,
    ),
    `<edit name="hintstyle" mode="assign"><const>hintnone</const></edit>`,
    `<edit name="rgba" mode="assign"><const>none</const></edit>`,
    `</match></fontconfig>`,
  ].join("\n");
}

/** A browser with fixed fonts. */
export interface FixedFontBrowser {
  readonly browser: Browser;
  close(): Promise<void>;
}

export async function launchWithFixedFonts(): Promise<FixedFontBrowser> {
  const folder = await mkdtemp(join(tmpdir(), "isotherm-fonts-"));
  const file = join(folder, "fonts.conf");
  await writeFile(file, fontConfiguration(join(folder, "cache")));
  const browser = await launchChromium({ flags: FLAGS, env: { FONTCONFIG_FILE: file } });
  return {
    browser,
    async close() {
      await browser.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
