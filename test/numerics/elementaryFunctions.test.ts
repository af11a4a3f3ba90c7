import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { exp, expm1, log, log1p, power } from "../../src/numerics/elementaryFunctions.ts";
import { randomFrom } from "../seededRandom.ts";

const random = randomFrom(23);
const between = (min: number, max: number) => () => random.between({ min, max });
const DRAW_COUNT = 20_000;

/** Each function, the engine's own, and ranges of arguments. */
const FUNCTIONS = [
  { name: "exp", ours: exp, engine: Math.exp, ranges: [between(-20, 20), between(-700, 700), between(-1e-3, 1e-3)] },
  { name: "expm1", ours: expm1, engine: Math.expm1, ranges: [between(-40, 60), between(-1, 1), between(-1e-9, 1e-9)] },
  { name: "log", ours: log, engine: Math.log, ranges: [between(0, 10), between(0.99, 1.01), between(0, 1e300)] },
  { name: "log1p", ours: log1p, engine: Math.log1p, ranges: [between(-1, 10), between(-1e-6, 1e-6), between(0, 1e18)] },
] as const;

/** Returns the distance of two numbers in units of the last place of the larger one. */
function ulpsBetween(a: number, b: number): number {
  const exponent = Math.max(-1022, Math.floor(Math.log2(Math.max(Math.abs(a), Math.abs(b)))));
  return Math.abs(a - b) / 2 ** (exponent - 52);
}

describe.each(FUNCTIONS)("$name", ({ ours, engine, ranges }) => {
  test("is within one unit in the last place of the engine's", () => {
    for (const draw of ranges) {
      for (let i = 0; i < DRAW_COUNT; i++) {
        const x = draw();
        if (ours(x) !== engine(x)) expect(ulpsBetween(ours(x), engine(x)), String(x)).toBeLessThanOrEqual(1);
      }
    }
  });

  test("has the engine's results at 0, infinities and outside its domain", () => {
    for (const x of [0, -0, 1000, -1000, Infinity, -Infinity, NaN, 5e-324]) {
      expect(ours(x), String(x)).toBe(engine(x));
    }
  });
});

describe("power", () => {
  test("is within one unit in the last place of the engine's", () => {
    for (const [base, exponent] of [
      [between(0, 10), between(-3, 3)],
      [between(0, 2), between(-20, 20)],
      [between(0, 1e6), between(-1, 1)],
    ] as const) {
      for (let i = 0; i < DRAW_COUNT; i++) {
        const [x, y] = [base(), exponent()];
        if (power(x, y) !== x ** y) expect(ulpsBetween(power(x, y), x ** y), `${x} ** ${y}`).toBeLessThanOrEqual(1);
      }
    }
  });

  test.each([0, 0.5, 1, 2, -1])("is exact with the exponent %d", (exponent) => {
    for (const base of [0.25, 1, 1.7, 9, 1e10]) {
      expect(power(base, exponent)).toBe(exponent === 0.5 ? Math.sqrt(base) : base ** exponent);
    }
  });
});

test("all results have the same bits in every engine", () => {
  const seeded = randomFrom(24);
  const results = Float64Array.from({ length: 5000 }, (_, index) => {
    const x = seeded.between({ min: 0, max: 3 });
    return [exp(x), exp(-10 * x), expm1(x - 1), log(x), log1p(x - 1), power(x, seeded.between({ min: -3, max: 3 }))][
      index % 6
    ] as number;
  });
  const hash = createHash("sha256").update(new Uint8Array(results.buffer)).digest("hex");
  expect(hash).toBe("29813e6f33c81ce6bcdec4704474e9a4ac67cf94ee3917e6d80dc2288c08dd7c");
});
