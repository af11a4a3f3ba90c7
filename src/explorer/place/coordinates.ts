/** Reads coordinates that users type or paste. */

interface Coordinates {
  readonly latitude: number;
  readonly longitude: number;
}

export type ParsedCoordinates =
  | ({ readonly kind: "coordinates" } & Coordinates)
  /** The text is meant as coordinates, but is not accepted. */
  | { readonly kind: "error"; readonly message: string }
  /** The text is something else, such as a name. */
  | { readonly kind: "other" };

type Axis = "latitude" | "longitude";

const LIMITS: Readonly<Record<Axis, number>> = { latitude: 90, longitude: 180 };
const EXAMPLES = 'such as "11.589, 43.145", "33.92 S 18.42 E" or 48°51\'24"N 2°21\'3"E';

/** Words and letters that name an axis, and the sign of its numbers. */
const DIRECTIONS: Readonly<Record<string, readonly [axis: Axis, sign: 1 | -1 | undefined]>> = {
  n: ["latitude", 1],
  north: ["latitude", 1],
  s: ["latitude", -1],
  south: ["latitude", -1],
  e: ["longitude", 1],
  east: ["longitude", 1],
  w: ["longitude", -1],
  west: ["longitude", -1],
  lat: ["latitude", undefined],
  latitude: ["latitude", undefined],
  lon: ["longitude", undefined],
  lng: ["longitude", undefined],
  long: ["longitude", undefined],
  longitude: ["longitude", undefined],
};

/**
 * Parses decimal degrees with signs or N, S, E and W before or after the number, and degrees with minutes and seconds,
 * separated by a comma, a semicolon or a space. The latitude comes first unless the axes are named.
 */
export function parseCoordinates(text: string): ParsedCoordinates {
  const folded = foldSigns(text);
  const words = folded.match(/\p{L}+/gu) ?? [];
  if (!/\d/.test(folded) || words.some((word) => !(word in DIRECTIONS))) return { kind: "other" };
  if (/[^-+\d\s\p{L}.,;:°'"]/u.test(folded)) return { kind: "other" };
  const commaFault = decimalCommaFault(folded);
  if (commaFault !== undefined) return { kind: "error", message: commaFault };
  const parts = splitParts(folded);
  if (parts === undefined) {
    return { kind: "error", message: `Enter a latitude and a longitude, ${EXAMPLES}.` };
  }
  const [first, second] = [readPart(parts[0]), readPart(parts[1])];
  if ("error" in first || "error" in second) {
    const messages = [first, second].flatMap((part) => ("error" in part ? [part.error] : []));
    return { kind: "error", message: messages.join(" ") };
  }
  return combine([first, second]);
}

/** Replaces typographic signs with plain ones, and removes what surrounds coordinates. */
function foldSigns(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .trim()
    .replace(/^geo:/, "")
    .replaceAll(/[\u2212\u2010-\u2015]/g, "-")
    .replaceAll(/\u2033|''|[\u201c-\u201f\u3003]|\u2032\u2032/g, '"')
    .replaceAll(/[\u2032\u2018-\u201b\u00b4`]/g, "'")
    .replaceAll("''", '"')
    .replaceAll(/[\u00ba\u02da]/g, "°")
    .replaceAll(/[()[\]]/g, " ")
    .replaceAll(/(\p{L})[:=]/gu, "$1 ")
    .replaceAll(/(\d)\s*(?:deg|degrees?)\b/g, "$1°")
    .trim();
}

/** Returns an error if the decimals are written with commas. */
function decimalCommaFault(text: string): string | undefined {
  const commas = text.match(/\d,\d/g)?.length ?? 0;
  if (commas === 0) return undefined;
  // A comma that separates the coordinates has equally many numbers on both sides.
  const [before, after, ...others] = text.split(/[,;]/).map((part) => part.match(/[\d.]+/g)?.length ?? 0);
  if (others.length === 0 && before === after) return undefined;
  const corrected = text.replaceAll(/(\d),(?=\d)/g, "$1.");
  return `Write decimals with a point, not with a comma: ${corrected}`;
}

/** Splits the text into its two coordinates; undefined if there are more, or fewer. */
function splitParts(text: string): readonly [string, string] | undefined {
  const bySign = text.split(/[,;]/).map((part) => part.trim());
  const parts = bySign.length === 2 ? bySign : bySign.length === 1 ? splitAtSpace(text) : undefined;
  const [first, second] = parts ?? [];
  return first === undefined || second === undefined || first === "" || second === "" ? undefined : [first, second];
}

function splitAtSpace(text: string): readonly string[] | undefined {
  const named = splitAtName(text);
  if (named !== undefined) return named;
  const numbers = text.match(/[-+]?[\d.]+[°:'"\s]*/g) ?? [];
  if (numbers.join("").replaceAll(/\s/g, "") !== text.replaceAll(/\s/g, "")) return undefined;
  // Degrees with minutes and seconds have two, four or six numbers. A degree sign begins a coordinate.
  const degreeSigns = [...numbers.keys()].filter((index) => numbers[index]?.includes("°"));
  const second = degreeSigns[1] ?? numbers.length / 2;
  if (![2, 4, 6].includes(numbers.length) && degreeSigns.length !== 2) return undefined;
  return [numbers.slice(0, second).join(" ").trim(), numbers.slice(second).join(" ").trim()];
}

/** Splits where the name of an axis ends the first coordinate, or begins the second one. */
function splitAtName(text: string): readonly string[] | undefined {
  const names = [...text.matchAll(/\p{L}+/gu)];
  const [first, second] = names;
  if (first === undefined) return undefined;
  const startsWithName = first.index === 0;
  if (startsWithName && second !== undefined) {
    // "lat 11.5 n lon 43 e" has a name and a direction for each.
    const start = names.length === 4 ? names[2] : second;
    return start === undefined ? undefined : [text.slice(0, start.index).trim(), text.slice(start.index).trim()];
  }
  if (startsWithName) return undefined;
  const end = first.index + first[0].length;
  return [text.slice(0, end).trim(), text.slice(end).trim()];
}

interface ReadPart {
  /** Absolute value; degrees. */
  readonly degrees: number;
  readonly isNegative: boolean;
  readonly axis: Axis | undefined;
  readonly sign: 1 | -1 | undefined;
}

function readPart(text: string): ReadPart | { readonly error: string } {
  const names = (text.match(/\p{L}+/gu) ?? []).map((word) => DIRECTIONS[word]);
  const axes = new Set(names.map((name) => name?.[0]));
  const signs = names.flatMap((name) => name?.[1] ?? []);
  if (axes.size > 1 || signs.length > 1) return { error: `"${text}" names two directions; ${accepted()}` };
  const number = text.replaceAll(/\p{L}+/gu, " ").trim();
  const match =
    /^([-+])?\s*(\d+(?:\.\d*)?|\.\d+)\s*°?(?:[\s:°]*(\d+(?:\.\d*)?)\s*[':]?(?:\s*(\d+(?:\.\d*)?)\s*"?)?)?$/.exec(
      number,
    );
  if (match === null) return { error: `"${text}" is not a coordinate; ${accepted()}` };
  const [, minus, wholeText = "", minutesText, secondsText] = match;
  const isFaulty =
    (minutesText !== undefined && (wholeText.includes(".") || Number(minutesText) >= 60)) ||
    (secondsText !== undefined && (minutesText?.includes(".") === true || Number(secondsText) >= 60));
  if (isFaulty) {
    return {
      error: `"${text}" must have whole degrees and minutes and seconds from 0 to below 60; only the last may have decimals.`,
    };
  }
  return {
    degrees: Number(wholeText) + Number(minutesText ?? 0) / 60 + Number(secondsText ?? 0) / 3600,
    isNegative: minus === "-",
    axis: names[0]?.[0],
    sign: signs[0],
  };
}

function accepted(): string {
  return `enter a latitude and a longitude, ${EXAMPLES}.`;
}

function combine([first, second]: readonly [ReadPart, ReadPart]): ParsedCoordinates {
  if (first.axis !== undefined && first.axis === second.axis) {
    return { kind: "error", message: `Both numbers are a ${first.axis}; ${accepted()}` };
  }
  const isSwapped = first.axis === "longitude" || second.axis === "latitude";
  const [latitude, longitude] = isSwapped ? [second, first] : [first, second];
  const messages = [errorOf(latitude, "latitude"), errorOf(longitude, "longitude")].filter(
    (message) => message !== undefined,
  );
  if (messages.length > 0) return { kind: "error", message: messages.join(" ") };
  return { kind: "coordinates", latitude: valueOf(latitude), longitude: valueOf(longitude) };
}

/** Rounds to 7 decimals, about 1 cm, which removes the rounding errors of minutes and seconds. */
function valueOf({ degrees, isNegative, sign }: ReadPart): number {
  const value = Number(degrees.toFixed(7));
  return value !== 0 && (isNegative || sign === -1) ? -value : value;
}

function errorOf(part: ReadPart, axis: Axis): string | undefined {
  if (part.isNegative && part.sign !== undefined) {
    return `The ${axis} has both a minus sign and a direction; remove one of them.`;
  }
  const limit = LIMITS[axis];
  const value = valueOf(part);
  if (Math.abs(value) <= limit) return undefined;
  const hint = axis === "latitude" && Math.abs(value) <= 180 ? " The latitude comes first." : "";
  return `The ${axis} must be between -${limit} and ${limit} (got ${value}).${hint}`;
}
