import { describe, expect, test } from "vitest";
import { splitJsonList } from "../../src/cli/entityJson.ts";
import type { Fault } from "../../src/errors.ts";

/** The beginning of an element; its end does not arrive before the limit is exceeded. */
const TOO_LONG = `{"name": "${"x".repeat((8 << 20) + 1)}`;

async function* chunksOf(texts: Iterable<string>): AsyncGenerator<string> {
  yield* texts;
}

async function readAll(texts: Iterable<string>): Promise<string[]> {
  const elements: string[] = [];
  for await (const { text } of splitJsonList(chunksOf(texts))) elements.push(text);
  return elements;
}

async function faultOf(...texts: string[]): Promise<Fault> {
  return (await readAll(texts).then(
    () => expect.unreachable(),
    (error: unknown) => error,
  )) as Fault;
}

describe("a JSON list that is read in chunks", () => {
  test.each([
    ["follows the comma", 1, [`[{}, ${TOO_LONG}`]],
    ["is on a later line than the comma", 3, [`[{},\n\n  ${TOO_LONG}`]],
    ["is on the first line of the list, in a later chunk", 2, ["[\n", TOO_LONG]],
  ])("rejects an element that is too long and %s, with line %i", async (_, line, texts) => {
    const { code, message } = await faultOf(...texts);
    expect(code).toBe("invalid_request");
    expect(message).toBe(`Line ${line}: the entity that begins on this line must be at most 8388608 characters long.`);
  });

  test.each([
    ["before the list", ["\r", "\n\n", " x"], "Line 3, column 2"],
    ["after the list", ["[{}]\r", "\n\r", "\n x"], "Line 3, column 2"],
  ])("counts the lines of white space %s, with CR LF divided between chunks", async (_, texts, position) => {
    const { code, message } = await faultOf(...texts);
    expect(code).toBe("json_malformed");
    expect(message).toContain(position);
  });

  // Unbounded buffering of the white space takes quadratic time, which runs into the timeout of the test.
  test("skips white space before the list without buffering it", async () => {
    const whiteSpace = Array<string>(65_536).fill(" \n".repeat(256));
    expect(await readAll([...whiteSpace, "[1, 2]"])).toEqual(["1", " 2"]);
  });

  test.each(["7", "null", '"text"', ' {"name": "a"} '])(
    "rejects %s, which is JSON but no list, as invalid",
    async (text) => {
      const { code, message } = await faultOf(text);
      expect(code).toBe("invalid_request");
      expect(message).toMatch(/^Line 1, column [12]: found .* where an array of entities is expected\.$/);
    },
  );

  test.each(["nope", "7 8", '{"name": ', "", " "])("rejects %j, which is not JSON, as malformed", async (text) => {
    expect((await faultOf(text)).code).toBe("json_malformed");
  });
});
