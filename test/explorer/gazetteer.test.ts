import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { foldName, Gazetteer } from "../../src/explorer/place/gazetteer.ts";

const CITIES = new URL("../../src/explorer/place/cities.generated.txt", import.meta.url);
let gazetteer: Gazetteer;

beforeAll(() => {
  gazetteer = new Gazetteer(readFileSync(CITIES, "utf8"));
});

const firstFound = (text: string): string | undefined => {
  const [found] = gazetteer.search(text, 1);
  return found === undefined ? undefined : `${found.city.name}, ${found.city.region}`;
};

describe("the gazetteer", () => {
  test("has more than 5,000 cities at possible locations", () => {
    expect(gazetteer.cityCount).toBeGreaterThan(5000);
    const found = gazetteer.search("a", 10_000);
    expect(found.length).toBeGreaterThan(100);
    for (const { city } of found) {
      expect(Math.abs(city.latitude)).toBeLessThanOrEqual(90);
      expect(Math.abs(city.longitude)).toBeLessThanOrEqual(180);
      expect(city.region).not.toBe("");
    }
  });

  test.each([
    ["djibouti", "Djibouti, Djibouti"],
    ["DJIBOUTI", "Djibouti, Djibouti"],
    ["Zurich", "Zürich, Switzerland"],
    ["Zuerich", "Zürich, Switzerland"],
    ["zürich", "Zürich, Switzerland"],
    ["Munchen", "Munich, Germany"],
    ["Muenchen", "Munich, Germany"],
    ["München", "Munich, Germany"],
    ["Sao Paulo", "São Paulo, Brazil"],
    ["Firenze", "Florence, Italy"],
    ["Cologne", "Köln, Germany"],
    ["Москва", "Moscow, Russia"],
    ["Kiev", "Kyiv, Ukraine"],
    ["Київ", "Kyiv, Ukraine"],
    ["Αθηνα", "Athens, Greece"],
    ["القاهرة", "Cairo, Egypt"],
    ["東京", "Tokyo, Japan"],
    ["서울", "Seoul, South Korea"],
    ["bombay", "Mumbai, India"],
    ["rio de", "Rio de Janeiro, Brazil"],
    ["janeiro", "Rio de Janeiro, Brazil"],
    ["st. petersburg", "Saint Petersburg, Russia"],
    ["lodz", "Łódź, Poland"],
    ["Cordoba, Spain", "Córdoba, Spain"],
    ["Cordoba, Arg", "Córdoba, Argentina"],
    ["springfield, il", "Springfield, IL, United States"],
  ])("finds %s", (text, expected) => {
    expect(firstFound(text)).toBe(expected);
  });

  test("lists larger cities first, and exact names before longer ones", () => {
    const found = gazetteer.search("san", 5).map(({ city }) => city.name);
    expect(found).toHaveLength(5);
    expect(gazetteer.search("bata", 3)[0]?.city.name).toBe("Bata");
  });

  test("says by which other name a city was found", () => {
    expect(gazetteer.search("wien", 1)[0]?.matchedName).toBe("Wien");
    expect(gazetteer.search("vienna", 1)[0]?.matchedName).toBeUndefined();
  });

  test("finds nothing for punctuation and unknown names", () => {
    expect(gazetteer.search("", 5)).toEqual([]);
    expect(gazetteer.search(" , ", 5)).toEqual([]);
    expect(gazetteer.search("Xyzzyville", 5)).toEqual([]);
  });
});

test("foldName keeps the marks of scripts in which they are letters", () => {
  expect(foldName("Ōsaka-shi")).toBe("osaka shi");
  expect(foldName("N’Djaména")).toBe("ndjamena");
  expect(foldName("मुम्बई")).toBe("मुम्बई");
});
