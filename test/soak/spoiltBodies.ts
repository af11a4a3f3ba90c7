import { randomFrom, type SeededRandom } from "../seededRandom.ts";
import { requestOf } from "../host/openapiRequests.ts";

/** Where bodies are posted, and how a right one comes about. */
export const POSTED = [
  { path: "/api/v1/hazard-risk/batch", operationId: "postHazardRiskBatch" },
  { path: "/api/v1/temperature-alignment-projections", operationId: "alignTemperature" },
  { path: "/analyze/total-climate-risk", operationId: "analyzeTotalClimateRisk" },
  { path: "/latest/api/v1/customers", operationId: "registerCustomer" },
] as const;

/** JSON that may say a key twice and hold numbers that no program can. */
type Written =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "list"; readonly items: Written[] }
  | { readonly kind: "object"; readonly members: [key: string, value: Written][] };

const text = (written: string): Written => ({ kind: "text", text: written });
const KEYS = [
  "latitude",
  "hazards",
  "internal_id",
  "year",
  "data",
  "__proto__",
  "constructor",
  "toString",
  "",
  "a/b~c",
  "\u0000",
];
const ATOMS = [
  "null",
  "true",
  "false",
  '""',
  '"x"',
  "0",
  "-0",
  "-1",
  "1.5",
  "2050",
  "1e308",
  "-1e308",
  "1e309",
  "-1e999",
  "5e-324",
  "1e-999",
  "9007199254740993",
  "123456789012345678901234567890",
  "0.1e1",
  "1E5",
  "01",
  "+1",
  ".5",
  "1.",
  "0x10",
  "NaN",
  "Infinity",
  "undefined",
  '"\\u0000"',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\\x"',
  '"\\u00g0"',
  "'x'",
  '"2050"',
  '"1e5"',
  '" "',
  '"\u{1f600}"',
  "[]",
  "{}",
  "[[]]",
];
const ENDS = ["", " ", "\n", ",", "]", "}", "//", "/* */", "\u0000", "\ufeff", "[]", "null"];
/** What is not UTF-8: overlong, half of a pair, beyond the last character, cut short, a stray end. */
const BAD_BYTES = [
  [0xc0, 0xaf],
  [0xed, 0xa0, 0x80],
  [0xf5, 0x80, 0x80, 0x80],
  [0xe2, 0x82],
  [0x80],
  [0xff],
  [0xf4, 0x90, 0x80, 0x80],
];

/** A body that is right, for one of the addresses. */
function rightBody(random: SeededRandom, { operationId }: (typeof POSTED)[number], name: string): unknown {
  const { body } = requestOf(random, operationId);
  // The generator knows a handful of texts, all of which are soon registered; half of those who register are new.
  return operationId === "registerCustomer" && random.chance(0.5) ? { ...(body as object), internal_id: name } : body;
}

/** A body that was right until something happened to it; one in twenty still is. */
function spoiltBody(random: SeededRandom, place: (typeof POSTED)[number], name: string): Buffer {
  let written = writtenOf(rightBody(random, place, name));
  if (random.chance(0.05)) return Buffer.from(textOf(random, written));
  for (let left = 1 + random.below(3); left > 0; left--) written = spoiltSomewhere(random, written);
  let bytes: Buffer = Buffer.from(textOf(random, written));
  if (random.chance(0.05)) bytes = Buffer.concat([bytes, Buffer.from(random.pick(ENDS))]);
  if (random.chance(0.02)) bytes = Buffer.from(bytes.toString(), random.pick(["utf16le", "latin1", "base64"] as const));
  if (random.chance(0.02)) bytes = Buffer.concat([Buffer.from("\ufeff"), bytes]);
  if (random.chance(0.2)) bytes = spoiltBytes(random, bytes);
  return bytes;
}

function writtenOf(value: unknown): Written {
  if (Array.isArray(value)) return { kind: "list", items: value.map(writtenOf) };
  if (typeof value !== "object" || value === null) return text(JSON.stringify(value));
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return { kind: "object", members: members.map(([key, member]) => [key, writtenOf(member)]) };
}

function textOf(random: SeededRandom, written: Written): string {
  // White space is rare, but wherever it is allowed.
  const space = (): string => (random.chance(0.03) ? random.pick([" ", "\n", "\r\n", "\t", "   "]) : "");
  const keyText = (key: string): string =>
    random.chance(0.01) && key !== ""
      ? `"\\u${key.charCodeAt(0).toString(16).padStart(4, "0")}${JSON.stringify(key).slice(2)}`
      : JSON.stringify(key);
  const go = (each: Written): string => {
    if (each.kind === "text") return each.text;
    if (each.kind === "list") return `[${each.items.map((item) => `${space()}${go(item)}${space()}`).join(",")}]`;
    const members = each.members.map(([key, value]) => `${space()}${keyText(key)}${space()}:${go(value)}`);
    return `{${members.join(",")}}`;
  };
  return go(written);
}

/** Goes down a random way, and changes something where it ends. */
function spoiltSomewhere(random: SeededRandom, written: Written): Written {
  if (written.kind === "text" || random.chance(0.15)) return spoilt(random, written);
  if (written.kind === "list") {
    if (written.items.length === 0) return spoilt(random, written);
    const items = [...written.items];
    const at = random.below(items.length);
    items[at] = spoiltSomewhere(random, items[at] as Written);
    return { kind: "list", items };
  }
  if (written.members.length === 0) return spoilt(random, written);
  const members = [...written.members];
  const at = random.below(members.length);
  const [key, value] = members[at] as [string, Written];
  switch (random.below(8)) {
    case 0:
      members.splice(at, 1);
      break;
    case 1:
      members.splice(random.below(members.length + 1), 0, [key, random.chance(0.5) ? value : atom(random)]);
      break;
    case 2:
      members[at] = [random.pick(KEYS), value];
      break;
    case 3:
      members.push([random.pick(KEYS), atom(random)]);
      break;
    default:
      members[at] = [key, spoiltSomewhere(random, value)];
  }
  return { kind: "object", members };
}

function spoilt(random: SeededRandom, written: Written): Written {
  switch (random.below(7)) {
    case 0:
      return { kind: "list", items: Array.from({ length: random.below(4) }, () => written) };
    case 1:
      return { kind: "object", members: [[random.pick(KEYS), written]] };
    case 2: {
      // Around the depth that is allowed, and far beyond it.
      const depth = random.pick([8, 12, 13, 14, 15, 16, 17, 40, random.chance(0.05) ? 50_000 : 100]);
      const [open, close] = random.pick([
        ["[", "]"],
        ['{"a":', "}"],
      ] as const);
      return text(open.repeat(depth) + "1" + close.repeat(random.chance(0.9) ? depth : depth - 1));
    }
    case 3:
      return text(
        random.pick(['"', ""]) +
          random.pick(["x", "é", "\\n", "9", "\u{1f600}"]).repeat(random.pick([1, 200, 201, 5_000])) +
          '"',
      );
    case 4:
      return written.kind === "list" ? { kind: "list", items: [...written.items, ...written.items] } : atom(random);
    default:
      return atom(random);
  }
}

function atom(random: SeededRandom): Written {
  if (random.chance(0.8)) return text(random.pick(ATOMS));
  return text(
    random.pick([
      String(random.between({ least: -1e6, most: 1e6 })),
      "9".repeat(1 + random.below(400)),
      `1e${random.below(700)}`,
    ]),
  );
}

function spoiltBytes(random: SeededRandom, bytes: Buffer): Buffer {
  const at = random.below(bytes.length + 1);
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
  switch (random.below(5)) {
    case 0:
      return Buffer.concat([before, Buffer.from(random.pick(BAD_BYTES)), after]);
    case 1:
      return Buffer.concat([before, Buffer.from([random.below(256)]), after.subarray(1)]);
    case 2:
      return Buffer.from(before);
    case 3:
      return Buffer.concat([before, after.subarray(random.below(30))]);
    default:
      return Buffer.concat([
        before,
        Buffer.from(random.pick([",", ":", '"', "[", "}", "\\", "\n", "0", "-", "e"])),
        after,
      ]);
  }
}

/** The same campaign, from its number. */
export const bodyOf = (
  seed: number,
  index: number,
): { readonly place: (typeof POSTED)[number]; readonly bytes: Buffer } => {
  const random = randomFrom(seed * 1_000_003 + index);
  const place = random.pick(POSTED);
  return { place, bytes: spoiltBody(random, place, `client ${seed}-${index}`) };
};
