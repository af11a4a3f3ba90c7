import { describe, expect, test } from "vitest";
import { axisOver, positionOn } from "../../../src/explorer/company/chartScale.ts";
import {
  formatAmount,
  formatMoney,
  formatMoneyChange,
  moneyScaleFor,
} from "../../../src/explorer/company/companyFormat.ts";
import { parseNumberText } from "../../../src/explorer/company/formText.ts";

describe("axes", () => {
  test.each([
    [[0, 1.04], 5, [0, 0.25, 0.5, 0.75, 1, 1.25]],
    [[0, 700], 4, [0, 200, 400, 600, 800]],
    [[-3, 7], 5, [-4, -2, 0, 2, 4, 6, 8]],
    [[2, 2], 4, [2, 2.5]],
    [[0, 0], 4, [0, 0.25]],
    [[], 4, [0, 1]],
    [[NaN, 0, Infinity, 10], 2, [0, 5, 10]],
  ])("of %j with %i ticks has the ticks %j", (values, tickCount, ticks) => {
    const axis = axisOver(values, tickCount);
    expect(axis.ticks).toEqual(ticks);
    expect([axis.min, axis.max]).toEqual([ticks[0], ticks.at(-1)]);
  });

  test("positions are linear between the ends", () => {
    const position = positionOn({ min: 0, max: 10, ticks: [] }, 100, 200);
    expect([0, 5, 10].map(position)).toEqual([100, 150, 200]);
  });
});

describe("amounts", () => {
  test.each([
    [7e11, "billion "],
    [1e10, "billion "],
    [9.9e9, "million "],
    [-5e4, "thousand "],
    [12, ""],
    [0.5, ""],
    [0, ""],
  ])("%d USD is shown in %jUSD", (amountUsd, name) => {
    expect(moneyScaleFor([amountUsd, 0]).name).toBe(name);
  });

  test("changes have a sign, and small ones are not shown as 0", () => {
    const scale = moneyScaleFor([7e8]);
    expect(formatMoney(7e8, scale)).toBe("700.0");
    expect([3e6, -246_910_000, 0, 2e4].map((usd) => formatMoneyChange(usd, scale))).toEqual([
      "+3.0",
      "-246.9",
      "0",
      "<0.1",
    ]);
  });

  test.each([
    [1_477_000, "1.477 million"],
    [50, "50"],
    [-2_500, "-2.5 thousand"],
    [0, "0"],
  ])("%d is %s", (amount, text) => {
    expect(formatAmount(amount)).toBe(text);
  });

  test.each([
    ["1250000", 1_250_000],
    [" -3.5 ", -3.5],
    ["1.25e6", 1_250_000],
    ["-0", 0],
    ["1,000", undefined],
    ["1e999", undefined],
    ["0x10", undefined],
    ["", undefined],
    [".5", undefined],
  ])("the text %j is read as %s", (text, value) => {
    expect(parseNumberText(text)).toBe(value);
  });
});
