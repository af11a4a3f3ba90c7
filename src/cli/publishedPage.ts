/** The files of the explorer, as published beside an atlas. */
import { readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { Fault } from "../errors.ts";
import { isNotFound } from "../files/files.ts";
import { indentedJson } from "./terminal.ts";

/** Written by scripts/buildExplorer.mjs. */
export const EXPLORER_FOLDER = fileURLToPath(new URL("../explorer", import.meta.url));
const PAGE_NAME = "index.html";
const CONFIGURATION_NAME = "explorer.json";

/**
 * Returns the files of the page by their path below the published folder.
 *
 * @param folder the built explorer
 * @param atlas address of the atlas relative to the page, or "demo"
 * @throws Fault `configuration_invalid` if the explorer has not been built
 */
export async function publishedPageFiles(
  folder: string,
  { atlas }: { readonly atlas: string },
): Promise<ReadonlyMap<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>();
  for (const path of await filesBelow(folder)) {
    files.set(relative(folder, path).split(sep).join("/"), await readFile(path));
  }
  const page = files.get(PAGE_NAME);
  if (page === undefined) throw notBuilt(folder);
  const { EXPLORER_POLICY } = await import("../host/routes/explorer.ts");
  files.set(PAGE_NAME, encode(publishedPage(new TextDecoder().decode(page), EXPLORER_POLICY)));
  files.set(CONFIGURATION_NAME, encode(indentedJson({ kind: "published", atlas })));
  return files;
}

/**
 * Returns the page with its policy and the address of its configuration. Browsers ignore `frame-ancestors` in a page, and report
 * it as an error. A worker has the policy of the response with its script.
 */
function publishedPage(html: string, servicePolicy: string): string {
  const policy = servicePolicy.replace(/; frame-ancestors [^;]*/, "");
  const members = [
    `<meta http-equiv="Content-Security-Policy" content="${policy}" />`,
    `<meta name="referrer" content="no-referrer" />`,
    `<meta name="isotherm-explorer" content="${CONFIGURATION_NAME}" />`,
  ];
  const head = /<meta charset="utf-8"\s*\/?>/.exec(html);
  if (head === null) throw new Error(`${PAGE_NAME} must begin with its character set`);
  const end = head.index + head[0].length;
  const published = `${html.slice(0, end)}\n${members.map((member) => `    ${member}`).join("\n")}${html.slice(end)}`;
  return published.replace(/<noscript>.*?<\/noscript>/s, "<noscript>This page needs JavaScript.</noscript>");
}

async function filesBelow(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  } catch (error) {
    if (isNotFound(error)) throw notBuilt(folder);
    throw error;
  }
}

function notBuilt(folder: string): Fault {
  return new Fault("configuration_invalid", `this installation has no explorer: ${folder} must contain ${PAGE_NAME}.`);
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
