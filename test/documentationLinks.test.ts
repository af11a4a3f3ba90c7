/** The links of the documentation, and the files of the repository that it names. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PAGES = ["", "docs/", "examples/"].flatMap((folder) =>
  readdirSync(`${ROOT}${folder}`, { recursive: folder !== "", encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `${folder}${name}`),
);

/** Returns a page without its fenced code blocks. */
function proseOf(page: string): string {
  return readFileSync(`${ROOT}${page}`, "utf8").replaceAll(/^```[\s\S]*?^```$/gm, "");
}

/** Returns the fragments that the headings of a page have on GitHub and GitLab. */
function fragmentsOf(page: string): ReadonlySet<string> {
  const counts = new Map<string, number>();
  const fragments = new Set<string>();
  for (const [, title = ""] of proseOf(page).matchAll(/^#{1,6} +(.*)$/gm)) {
    const fragment = title
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-");
    const count = counts.get(fragment) ?? 0;
    counts.set(fragment, count + 1);
    fragments.add(count === 0 ? fragment : `${fragment}-${count}`);
  }
  return fragments;
}

/** Returns why the target of a link in a page does not exist, or undefined if it does. */
function linkError(page: string, link: string): string | undefined {
  const [path = "", fragment] = link.split("#");
  const target = path === "" ? page : posix.join(posix.dirname(page), path);
  if (!existsSync(`${ROOT}${target}`)) return `${page}: ${target} does not exist`;
  if (fragment === undefined || fragmentsOf(target).has(fragment)) return undefined;
  return `${page}: ${target} has no heading #${fragment}`;
}

/** A path of the repository in a code span. Placeholders, patterns and generated files are not followed. */
const REPOSITORY_PATH = /(?<![\w/.-])(?:src|test|bench|scripts|assembly|docs|examples|\.ci)\/[\w./-]*\w(?![\w*<…-])/g;

describe("the documentation", () => {
  test("has no link to a missing page or heading", () => {
    const links = PAGES.flatMap((page) =>
      [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => ({ page, link })),
    ).filter(({ link }) => !/^[a-z]+:/.test(link));
    expect(links.length).toBeGreaterThan(200);
    expect(links.flatMap(({ page, link }) => linkError(page, link) ?? [])).toEqual([]);
  });

  test("names only files and folders that exist", () => {
    const named = PAGES.flatMap((page) =>
      [...proseOf(page).matchAll(/`([^`]+)`/g)]
        .flatMap(([, code = ""]) => code.match(REPOSITORY_PATH) ?? [])
        .filter((path) => !path.includes(".generated."))
        .map((path) => ({ page, path })),
    );
    expect(named.length).toBeGreaterThan(150);
    // Commands such as `npx vitest run test/publicExports` name files by the beginning of their paths.
    const isPresent = (path: string): boolean => {
      const folder = `${ROOT}${posix.dirname(path)}`;
      return existsSync(folder) && readdirSync(folder).some((name) => name.startsWith(posix.basename(path)));
    };
    expect(named.flatMap(({ page, path }) => (isPresent(path) ? [] : `${page}: ${path}`))).toEqual([]);
  });
});
