import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";

/**
 * Runs the worked examples of docs/methods/company-examples.md and compares their output with the page.
 * ISOTHERM_UPDATE_EXAMPLES=1 updates the page instead.
 */
const PAGE = fileURLToPath(new URL("../../docs/methods/company-examples.md", import.meta.url));
const FOLDER = fileURLToPath(new URL("../../build/company-examples/", import.meta.url));
const IS_UPDATING = process.env["ISOTHERM_UPDATE_EXAMPLES"] === "1";
const EXAMPLE = /<!-- example -->\n\n```js\n([\s\S]*?)```\n\n```json\n([\s\S]*?)```/g;

let text = readFileSync(PAGE, "utf8");
const examples = [...text.matchAll(EXAMPLE)];
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

/** Rounds to six digits, because engines differ in the last digits. */
function shown(value: unknown): string {
  const rounded = (_: string, member: unknown): unknown =>
    typeof member === "number" ? Number(member.toPrecision(6)) : member;
  return `${JSON.stringify(value, rounded, 2)}\n`;
}

async function outputOf(code: string, index: number): Promise<string> {
  mkdirSync(FOLDER, { recursive: true });
  const file = `${FOLDER}example${index}.mjs`;
  const source = code.replace('from "isotherm"', 'from "../../src/index.ts"');
  writeFileSync(file, `let shown;\nconst show = (value) => (shown = value);\n${source}\nexport { shown };\n`);
  const example = (await import(/* @vite-ignore */ file)) as { readonly shown: unknown };
  return shown(example.shown);
}

test("the page has six examples", () => {
  expect(examples).toHaveLength(6);
});

test.each(examples.map(([, code = "", output = ""], index) => ({ index, code, output })))(
  "example $index prints the output on the page",
  async ({ index, code, output }) => {
    const actual = await outputOf(code, index);
    if (IS_UPDATING) {
      text = text.replace(`${code}\`\`\`\n\n\`\`\`json\n${output}`, () => `${code}\`\`\`\n\n\`\`\`json\n${actual}`);
      writeFileSync(PAGE, text);
    } else expect(JSON.parse(output)).toEqual(JSON.parse(actual));
  },
);
