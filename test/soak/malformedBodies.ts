import { randomFrom, type SeededRandom } from "../seededRandom.ts";
import { requestOf } from "../host/openapi/requests.ts";

/** The operations that take a body. */
export const POST_OPERATIONS = [
  { path: "/api/v1/hazard-risk/batch", operationId: "postHazardRiskBatch" },
  { path: "/api/v1/temperature-alignment-projections", operationId: "alignTemperature" },
  { path: "/analyze/total-climate-risk", operationId: "analyzeTotalClimateRisk" },
  { path: "/latest/api/v1/customers", operationId: "registerCustomer" },
] as const;

/** JSON syntax tree that can represent duplicate keys and numbers outside the range of a double. */
type JsonNode =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "list"; readonly items: JsonNode[] }
  | { readonly kind: "object"; readonly members: [key: string, value: JsonNode][] };

const text = (literal: string): JsonNode => ({ kind: "text", text: literal });
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
/** Invalid UTF-8: overlong, surrogate, above U+10FFFF, truncated, stray continuation byte. */
const BAD_BYTES = [
  [0xc0, 0xaf],
  [0xed, 0xa0, 0x80],
  [0xf5, 0x80, 0x80, 0x80],
  [0xe2, 0x82],
  [0x80],
  [0xff],
  [0xf4, 0x90, 0x80, 0x80],
];

/** Returns a valid body for an operation. */
function validBody(random: SeededRandom, { operationId }: (typeof POST_OPERATIONS)[number], name: string): unknown {
  const { body } = requestOf(random, operationId);
  // The generator has only a handful of texts, which are soon registered; make half of the customers new.
  return operationId === "registerCustomer" && random.chance(0.5) ? { ...(body as object), internal_id: name } : body;
}

/** Returns a corrupted body; one in twenty is left valid. */
function malformedBody(random: SeededRandom, operation: (typeof POST_OPERATIONS)[number], name: string): Buffer {
  let node = nodeOf(validBody(random, operation, name));
  if (random.chance(0.05)) return Buffer.from(textOf(random, node));
  for (let left = 1 + random.below(3); left > 0; left--) node = corruptDescendant(random, node);
  let bytes: Buffer = Buffer.from(textOf(random, node));
  if (random.chance(0.05)) bytes = Buffer.concat([bytes, Buffer.from(random.pick(ENDS))]);
  if (random.chance(0.02)) bytes = Buffer.from(bytes.toString(), random.pick(["utf16le", "latin1", "base64"] as const));
  if (random.chance(0.02)) bytes = Buffer.concat([Buffer.from("\ufeff"), bytes]);
  if (random.chance(0.2)) bytes = corruptBytes(random, bytes);
  return bytes;
}

function nodeOf(value: unknown): JsonNode {
  if (Array.isArray(value)) return { kind: "list", items: value.map(nodeOf) };
  if (typeof value !== "object" || value === null) return text(JSON.stringify(value));
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return { kind: "object", members: members.map(([key, member]) => [key, nodeOf(member)]) };
}

function textOf(random: SeededRandom, node: JsonNode): string {
  // White space is rare, but occurs wherever JSON allows it.
  const space = (): string => (random.chance(0.03) ? random.pick([" ", "\n", "\r\n", "\t", "   "]) : "");
  const keyText = (key: string): string =>
    random.chance(0.01) && key !== ""
      ? `"\\u${key.charCodeAt(0).toString(16).padStart(4, "0")}${JSON.stringify(key).slice(2)}`
      : JSON.stringify(key);
  const format = (each: JsonNode): string => {
    if (each.kind === "text") return each.text;
    if (each.kind === "list") return `[${each.items.map((item) => `${space()}${format(item)}${space()}`).join(",")}]`;
    const members = each.members.map(([key, value]) => `${space()}${keyText(key)}${space()}:${format(value)}`);
    return `{${members.join(",")}}`;
  };
  return format(node);
}

/** Walks down a random path and corrupts the node at its end. */
function corruptDescendant(random: SeededRandom, node: JsonNode): JsonNode {
  if (node.kind === "text" || random.chance(0.15)) return corruptNode(random, node);
  if (node.kind === "list") {
    if (node.items.length === 0) return corruptNode(random, node);
    const items = [...node.items];
    const at = random.below(items.length);
    items[at] = corruptDescendant(random, items[at] as JsonNode);
    return { kind: "list", items };
  }
  if (node.members.length === 0) return corruptNode(random, node);
  const members = [...node.members];
  const at = random.below(members.length);
  const [key, value] = members[at] as [string, JsonNode];
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
      members[at] = [key, corruptDescendant(random, value)];
  }
  return { kind: "object", members };
}

function corruptNode(random: SeededRandom, node: JsonNode): JsonNode {
  switch (random.below(7)) {
    case 0:
      return { kind: "list", items: Array.from({ length: random.below(4) }, () => node) };
    case 1:
      return { kind: "object", members: [[random.pick(KEYS), node]] };
    case 2: {
      // Around the maximum depth, and far beyond it.
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
      return node.kind === "list" ? { kind: "list", items: [...node.items, ...node.items] } : atom(random);
    default:
      return atom(random);
  }
}

function atom(random: SeededRandom): JsonNode {
  if (random.chance(0.8)) return text(random.pick(ATOMS));
  return text(
    random.pick([
      String(random.between({ min: -1e6, max: 1e6 })),
      "9".repeat(1 + random.below(400)),
      `1e${random.below(700)}`,
    ]),
  );
}

function corruptBytes(random: SeededRandom, bytes: Buffer): Buffer {
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

/** Returns body `index` of the campaign with the given seed; deterministic. */
export const bodyOf = (
  seed: number,
  index: number,
): { readonly operation: (typeof POST_OPERATIONS)[number]; readonly bytes: Buffer } => {
  const random = randomFrom(seed * 1_000_003 + index);
  const operation = random.pick(POST_OPERATIONS);
  return { operation, bytes: malformedBody(random, operation, `client ${seed}-${index}`) };
};
