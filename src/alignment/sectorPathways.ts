import { foldLetters } from "../reference/names.ts";
import type { MatchedSector, Pathway } from "../contract/wireTypes.ts";

/** The pathway of an entity and the table row that its industry or sector name matched. */
export interface SectorMatch extends MatchedSector {
  readonly pathway: Pathway;
}

/**
 * Maps names of any classification system to pathways. The first row with a matching key decides, so earlier rows are
 * exceptions to later ones, and moving a row changes results. Manufacturers belong to `industry` whatever they make, as
 * in the energy statistics behind the pathways, except for vehicle manufacturers. The last row separates names that are
 * known to belong to `economy` from unknown names.
 *
 * A key matches a sequence of whole words; `*` matches any word ending, including none.
 */
const ROWS: readonly { readonly pathway: Pathway; readonly keys: string }[] = [
  { pathway: "economy", keys: "insur*, reinsur*, bank*, mortgage*, without accommodation" },
  {
    pathway: "buildings",
    keys: "real estate, reit, reits, property develop*, property manag*, homebuild*, home build*, home construct*, residential build*, residential construct*, housing, hotel*, lodging, accommodation, retail space",
  },
  {
    pathway: "industry",
    keys: "manufacture of electric*, electric equipment, electric motor*, electric appliance*, electric light*",
  },
  { pathway: "transport", keys: "electric vehicle*" },
  { pathway: "power", keys: "electric, electricity, electrical power, electrical utilit*, multi utilit*" },
  { pathway: "energy_supply", keys: "gas utilit*, gas distribut*, manufacture of gas, petroleum, coke" },
  {
    pathway: "economy",
    keys: "retail*, wholesal*, distribut*, store*, supermarket*, pharmacy, pharmacies, drugstore*, commerce, dealer*, restaurant*, food service*, beverage service*, repair of, fishing, fisher*, aquacult*",
  },
  {
    pathway: "transport",
    keys: "land transport*, water transport*, vehicle*, auto, autos, automobile*, automotive, automaker*, motorcycle*",
  },
  {
    pathway: "economy",
    keys: "water, sewer*, sewage, waste*, remediation, environmental, recycl*, software, programming, computer service*, internet, data",
  },
  {
    pathway: "industry",
    keys: "manufactur*, machinery, transport* equipment, electrical*, electronic*, renewable energy equipment, power generation equipment, power equipment, power tool*, fuel cell*, industrial gas*, edible oil*, vegetable oil*, palm oil*, essential oil*, oilseed*, sugar, non energy, metal*, shipbuild*",
  },
  {
    pathway: "power",
    keys: "renewable*, alternative energy, alternative power, clean energy, solar, wind, hydropower, hydroelectric*, geothermal, nuclear energy, nuclear power, power generat*, power produc*, power plant*, power station*",
  },
  {
    pathway: "energy_supply",
    keys: "energy, oil*, gas, coal, lignite, fuel*, biofuel*, refin*, pipeline*, midstream, drilling, uranium",
  },
  {
    pathway: "transport",
    keys: "transport*, airline*, air freight, airport*, aviation, shipping, marine, maritime, port, ports, cruise*, rail*, road*, highway*, truck*, freight, logistics, courier*, postal, transit, warehous*",
  },
  {
    pathway: "industry",
    keys: "industrial*, process industr*, basic resource*, applied resource*, resource transformation, materials, mineral*, extractive*, mining, quarry*, steel, iron, alumin*, copper, gold, silver, cement, concrete, glass, ceramic*, chemical*, petrochemical*, fertili*, plastic*, rubber, pharma*, biotech*, paper*, pulp, wood, forest product*, packaging, building product*, construction, civil engineering, aerospace, semiconductor*, hardware, computer*, equipment, device*, instrument*, batter*, food*, beverage*, brewer*, tobacco, meat, dairy, textile*, apparel, footwear, leather, luxury goods, furniture, furnishing*, appliance*, household durable*, household product*, household goods, personal product*, personal care, leisure product*, recreational product*, toys, jewel*, printing",
  },
  { pathway: "power", keys: "utilit*, power" },
  {
    pathway: "economy",
    keys: "financ*, invest*, fund*, capital market*, asset*, broker*, exchange*, telecom*, communication*, media, television, entertain*, publish*, broadcast*, motion picture, newspaper*, advertis*, marketing, education*, health*, hospital*, medical, care, social, veterinary, gaming, casino*, gambling, leisure, travel, recreation*, sport*, arts, agricultur*, farm*, crop*, livestock, forestry, consumer*, household*, service*, professional, scientific, research, technology, information, legal, staffing, personnel, employment, rental*, leasing, management, administrat*, public, government, trading, cultural, organisation*, organization*",
  },
];

/** Accepted names of classification systems. The system does not affect the matching. */
const CLASSIFICATION_SYSTEMS = new Set(["gics", "nace", "naics", "isic", "sics", "trbc", "icb", "factset", "custom"]);

export function isKnownClassification(system: string): boolean {
  return CLASSIFICATION_SYSTEMS.has(system.trim().toLowerCase());
}

/** Returns the pathway of an entity by its industry name or, if that does not match, by its sector name. */
export function matchSector(texts: {
  readonly industry?: string | undefined;
  readonly sector?: string | undefined;
}): SectorMatch {
  for (const on of ["industry", "sector"] as const) {
    const text = texts[on];
    const found = text === undefined ? undefined : findRow(text);
    if (found !== undefined) return { ...found, on };
  }
  return { pathway: "economy", on: null, row: null, key: null };
}

interface Key {
  readonly text: string;
  readonly words: readonly { readonly text: string; readonly isPrefix: boolean }[];
}

const PATHWAY_ROWS = ROWS.map(({ pathway, keys }, index) => ({
  pathway,
  row: index + 1,
  keys: keys.split(", ").map(parseKey),
}));

function parseKey(text: string): Key {
  const words = text.split(" ").map((word) => ({ text: word.replace("*", ""), isPrefix: word.endsWith("*") }));
  return { text, words };
}

type RowMatch = Omit<SectorMatch, "on">;

/** Rows by text, since portfolios repeat a few hundred names. Cleared when full. */
const rowCache = new Map<string, RowMatch | undefined>();
const CACHED_TEXT_COUNT_MAX = 4096;
const CACHED_TEXT_LENGTH_MAX = 200;

function findRow(text: string): RowMatch | undefined {
  if (text.length > CACHED_TEXT_LENGTH_MAX) return searchRow(text);
  if (rowCache.has(text)) return rowCache.get(text);
  const found = searchRow(text);
  if (rowCache.size >= CACHED_TEXT_COUNT_MAX) rowCache.clear();
  rowCache.set(text, found);
  return found;
}

function searchRow(text: string): RowMatch | undefined {
  const words = wordsOf(text);
  for (const { pathway, row, keys } of PATHWAY_ROWS) {
    const key = keys.find((candidate) => words.some((_, start) => matchesAt(words, start, candidate)));
    if (key !== undefined) return { pathway, row, key: key.text };
  }
  return undefined;
}

/** Splits a text into lower-case words without accents; any character other than a to z separates words. */
function wordsOf(text: string): readonly string[] {
  return foldLetters(text)
    .split(/[^a-z]+/)
    .filter((word) => word !== "");
}

function matchesAt(words: readonly string[], start: number, key: Key): boolean {
  return key.words.every(({ text, isPrefix }, i) => {
    const word = words[start + i];
    return word !== undefined && (isPrefix ? word.startsWith(text) : word === text);
  });
}
