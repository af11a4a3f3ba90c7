/** Cities by name, from the file that scripts/buildGazetteer.mjs writes. */

interface City {
  readonly name: string;
  /** Other spellings that are found, such as the local one. */
  readonly otherNames: readonly string[];
  /** Country, or in the US state and country. */
  readonly region: string;
  readonly latitude: number;
  readonly longitude: number;
}

/** A city and the spelling by which it was found. */
export interface FoundCity {
  readonly city: City;
  /** The other name that matches; undefined if the name itself does. */
  readonly matchedName: string | undefined;
}

interface Entry {
  readonly city: City;
  /** Folded names, in the order of the name and the other names. Each may have two spellings. */
  readonly keys: readonly (readonly string[])[];
  readonly foldedRegion: string;
}

export class Gazetteer {
  /** The largest city first. */
  readonly #entries: readonly Entry[];

  /** @param text content of cities.generated.txt */
  constructor(text: string) {
    const regions = regionNames();
    this.#entries = text
      .split("\n")
      .slice(1)
      .filter((line) => line !== "")
      .map((line) => {
        const [name = "", code = "", latitude, longitude, others = ""] = line.split("\t");
        const otherNames = others === "" ? [] : others.split("|");
        const region = regions(code);
        return {
          city: { name, otherNames, region, latitude: Number(latitude), longitude: Number(longitude) },
          keys: [name, ...otherNames].map(spellingsOf),
          foldedRegion: foldName(region),
        };
      });
  }

  get cityCount(): number {
    return this.#entries.length;
  }

  /**
   * Returns the cities with a name that begins with the text, then those with a later word that does; larger ones first.
   * Ignores case, diacritics and punctuation. After a comma, the text may name the country.
   */
  search(text: string, countMax: number): readonly FoundCity[] {
    const [nameText = "", ...rest] = text.split(",");
    const wanted = foldName(nameText);
    const wantedRegion = foldName(rest.join(" "));
    if (wanted === "") return [];
    const exact: FoundCity[] = [];
    const starting: FoundCity[] = [];
    const containing: FoundCity[] = [];
    for (const { city, keys, foldedRegion } of this.#entries) {
      if (wantedRegion !== "" && !` ${foldedRegion}`.includes(` ${wantedRegion}`)) continue;
      const found = (test: (key: string) => boolean): FoundCity | undefined => {
        const index = keys.findIndex((spellings) => spellings.some(test));
        return index < 0 ? undefined : { city, matchedName: index === 0 ? undefined : city.otherNames[index - 1] };
      };
      const isExact = found((key) => key === wanted);
      const isStarting = isExact ?? found((key) => key.startsWith(wanted));
      const isContaining = isStarting ?? found((key) => key.includes(` ${wanted}`));
      if (isExact !== undefined) exact.push(isExact);
      else if (isStarting !== undefined) starting.push(isStarting);
      else if (isContaining !== undefined) containing.push(isContaining);
    }
    return [...exact, ...starting, ...containing].slice(0, countMax);
  }
}

/** Letters that Unicode does not decompose. */
const PLAIN_LETTERS: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  đ: "d",
  ð: "d",
  ħ: "h",
  ı: "i",
  ł: "l",
  þ: "th",
  ə: "e",
};

/** Returns a name in lower case, without diacritics, with single spaces instead of punctuation. */
export function foldName(name: string): string {
  return name
    .toLowerCase()
    .normalize("NFKD")
    .replaceAll(/(\p{Script=Latin})\p{M}+/gu, "$1")
    .replaceAll(/\p{Script=Greek}\p{M}+/gu, (letters) => letters.slice(0, 1))
    .normalize("NFC")
    .replaceAll(/[ßæœøđðħıłþə]/g, (letter) => PLAIN_LETTERS[letter] ?? letter)
    .replaceAll(/['’‘ʼ`´ʻ]/g, "")
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, " ")
    .trim();
}

/** Returns a folded name without diacritics, and with the two letters that replace an umlaut where it has one. */
function spellingsOf(name: string): readonly string[] {
  const folded = foldName(name);
  const spelledOut = foldName(
    name
      .toLowerCase()
      .normalize("NFC")
      .replaceAll(/[äöüøå]/g, (letter) => ({ ä: "ae", ö: "oe", ü: "ue", ø: "oe", å: "aa" })[letter] ?? letter),
  );
  return spelledOut === folded ? [folded] : [folded, spelledOut];
}

/** Returns a function from the code of a region to its English name. */
function regionNames(): (code: string) => string {
  const names = new Intl.DisplayNames(["en"], { type: "region", fallback: "code" });
  const known = new Map<string, string>();
  return (code) => {
    let name = known.get(code);
    if (name === undefined) {
      const [country = "", division] = code.split("-");
      const countryName = country === "" ? "" : (names.of(country) ?? country);
      name = division === undefined ? countryName : `${division}, ${countryName}`;
      known.set(code, name);
    }
    return name;
  };
}

let loading: Promise<Gazetteer> | undefined;

/** Loads the gazetteer when it is first needed. A load that failed is tried again by the next call. */
export async function loadGazetteer(fetchText: () => Promise<string>): Promise<Gazetteer> {
  loading ??= fetchText().then((text) => new Gazetteer(text));
  try {
    return await loading;
  } catch (error) {
    loading = undefined;
    throw error;
  }
}
