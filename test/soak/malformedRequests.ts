import { EXAMPLE_COMPANY } from "../company/exampleCompany.ts";
import { ENTITY } from "../host/entities.ts";
import type { SeededRandom } from "../seededRandom.ts";

/** A valid request and its expected status. */
export interface ValidRequest {
  readonly name: string;
  readonly line: string;
  readonly fields: readonly string[];
  /** Sent with a Content-Length, or in chunks of `chunkBytes`. */
  readonly body?: { readonly text: string; readonly chunkBytes?: number };
  readonly status: number;
}

const HAZARDS = "hazards=riverine_floods,coastal_floods&analysis_years=2050&scenarios=rcp8p5";
const PLACE = "latitude=11.59&longitude=43.15";
const QUERY = {
  latitude: 11.59,
  longitude: 43.15,
  hazards: ["riverine_floods"],
  analysis_years: [2050],
  scenarios: ["rcp8p5"],
};
const COMPANY = { ...EXAMPLE_COMPANY, assessment_years: [2030] };

/** Returns one valid request of each kind, for an account with a customer. */
export function validRequests(headers: Readonly<Record<string, string>>): readonly ValidRequest[] {
  const common = ["Host: h", ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)];
  const jsonFields = [...common, "Content-Type: application/json"];
  const batch = JSON.stringify([QUERY, { ...QUERY, latitude: 91 }]);
  const get = (name: string, target: string, fields = common, status = 200): ValidRequest => ({
    name,
    line: `GET ${target} HTTP/1.1`,
    fields,
    status,
  });
  const post = (name: string, path: string, text: string, chunkBytes?: number): ValidRequest => ({
    name,
    line: `POST ${path} HTTP/1.1`,
    fields: jsonFields,
    body: chunkBytes === undefined ? { text } : { text, chunkBytes },
    status: 200,
  });
  return [
    get("a point", `/api/v1/hazard-risk?${PLACE}&${HAZARDS}`),
    get("a compressed circle", `/latest/api/v1/hazard-risk?${PLACE}&radius=5&detail=true&${HAZARDS}`, [
      ...common,
      "Accept-Encoding: gzip, br;q=0.9",
    ]),
    get("an invalid place", "/api/v1/hazard-risk?latitude=91", common, 400),
    get("usage", "/latest/api/v1/usage?from=2020-01-01&to=2020-01-02"),
    get("no key", "/api/v1/limits", ["Host: h"], 401),
    get("open", "/healthz", ["Host: h", "Connection: keep-alive"]),
    { ...get("head", ""), line: "HEAD /api/v1/limits HTTP/1.1" },
    { ...get("options", ""), line: "OPTIONS * HTTP/1.1", status: 204 },
    {
      ...get("delete", "", common, 404),
      line: "DELETE /latest/api/v1/customers/3f2504e0-4f89-41d3-9a0c-0305e82c3301 HTTP/1.1",
    },
    post("a batch", "/api/v1/hazard-risk/batch", batch),
    post("a batch in chunks", "/api/v1/hazard-risk/batch", batch, 40),
    post("an entity in chunks", "/api/v1/temperature-alignment-projections", JSON.stringify([ENTITY]), 100),
    post("a company", "/analyze/total-climate-risk", JSON.stringify(COMPANY)),
    post("a customer", "/latest/api/v1/customers", '{"internal_id":"soak"}'),
    { ...get("HTTP/1.0", ""), line: "GET /healthz HTTP/1.0" },
  ];
}

/** Encodes a valid request. */
export function encodeRequest(request: ValidRequest): Buffer {
  return assemble(partsOf(request));
}

interface Parts {
  line: string;
  fields: string[];
  body: string;
  lineEnd: string;
}

function partsOf({ line, fields, body }: ValidRequest): Parts {
  if (body === undefined) return { line, fields: [...fields], body: "", lineEnd: "\r\n" };
  const { text, chunkBytes } = body;
  if (chunkBytes === undefined) {
    return { line, fields: [...fields, `Content-Length: ${Buffer.byteLength(text)}`], body: text, lineEnd: "\r\n" };
  }
  const chunks = text.match(new RegExp(`[^]{1,${chunkBytes}}`, "g")) ?? [];
  const encoded = [...chunks, ""].map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join("");
  return { line, fields: [...fields, "Transfer-Encoding: chunked"], body: encoded, lineEnd: "\r\n" };
}

function assemble({ line, fields, body, lineEnd }: Parts): Buffer<ArrayBuffer> {
  return Buffer.from([line, ...fields, "", ""].join(lineEnd) + body, "latin1");
}

const LINES = [
  "GET /healthz",
  "GET  /healthz  HTTP/1.1",
  "GET /healthz HTTP/0.9",
  "GET /healthz HTTP/1.2",
  "GET /healthz HTTP/2.0",
  "GET /healthz http/1.1",
  "GET\t/healthz\tHTTP/1.1",
  " GET /healthz HTTP/1.1",
  "TRACE /healthz HTTP/1.1",
  "CONNECT h:443 HTTP/1.1",
  "PRI * HTTP/2.0",
  "GET http://elsewhere.example/healthz HTTP/1.1",
  "GET http://[::1/healthz HTTP/1.1",
  "GET https://u:p@h:99999/api/v1/limits HTTP/1.1",
  "GET ftp://h/healthz HTTP/1.1",
  "GET h:80 HTTP/1.1",
  "OPTIONS * HTTP/1.1",
  "GET * HTTP/1.1",
  "GET // HTTP/1.1",
  "GET /%00 HTTP/1.1",
  "GET /%zz HTTP/1.1",
  "GET /api/v1/hazard-risk?%ff=%c0%80&=&&?#x HTTP/1.1",
  "GET /api/v1/hazard-risk?latitude=1e999&longitude=0x10&latitude=1 HTTP/1.1",
  "GET /latest/latest/api/v1/limits HTTP/1.1",
  "GET /latest/api/v1/customers/%2e%2e%2f HTTP/1.1",
  "GET /latest/api/v1/customers?limit=1&cursor=%00 HTTP/1.1",
  "GET /problems/../../etc/passwd HTTP/1.1",
  "GET /problems/__proto__ HTTP/1.1",
  "GET /docs HTTP/1.1",
  "GET /openapi.json HTTP/1.1",
  "HEAD /docs HTTP/1.1",
  "PATCH /latest/api/v1/usage HTTP/1.1",
  "M-SEARCH /healthz HTTP/1.1",
  `GET /${"a".repeat(9_000)} HTTP/1.1`,
  `GET /${"a".repeat(20_000)} HTTP/1.1`,
  `${"G".repeat(300)} / HTTP/1.1`,
  "GET /caf\u00e9\u0080 HTTP/1.1",
  "",
];
const FIELDS = [
  "Content-Length: 0",
  "Content-Length: -1",
  "Content-Length: +5",
  "Content-Length: 0x5",
  "Content-Length: 5, 5",
  "Content-Length: 5",
  "Content-Length:",
  "Content-Length: 1e3",
  "Content-Length: 8388609",
  "Content-Length: 18446744073709551616",
  "Content-Length: 99999999999999999999999",
  "Content-Length : 5",
  "Transfer-Encoding: chunked",
  "Transfer-Encoding: Chunked ",
  "Transfer-Encoding: identity",
  "Transfer-Encoding: gzip, chunked",
  "Transfer-Encoding: chunked, gzip",
  "Transfer-Encoding: chunked, chunked",
  "Transfer-Encoding:\u000bchunked",
  "Transfer-Encoding: x",
  "Transfer-Encoding",
  "Host: a, b",
  "Host:",
  "Host: h:99999",
  "Expect: 100-continue",
  "Expect: 200-ok",
  "Connection: close",
  "Connection: keep-alive, upgrade",
  "Connection: X-API-Key, Host",
  "Upgrade: websocket",
  "Upgrade: h2c",
  "HTTP2-Settings: AAMAAABkAAQAAP__",
  "TE: trailers",
  "Trailer: X-API-Key",
  "Accept-Encoding: gzip;q=9, br;q=-1, *;q=0.0000",
  "Accept-Encoding: \u0000",
  "Accept: text/html;q=1,*/*;q=0",
  "If-None-Match: *",
  'If-None-Match: W/"x", "',
  "Idempotency-Key: soak-1",
  "Idempotency-Key: soak-2",
  "Idempotency-Key: ",
  `Idempotency-Key: ${"k".repeat(256)}`,
  "X-Customer-ID: 0",
  "X-Customer-ID: 3f2504e0-4f89-41d3-9a0c-0305e82c3301",
  "X-API-Key: a",
  "Origin: null",
  "Access-Control-Request-Method: GET",
  "Content-Type: text/plain",
  "Content-Type: application/json; charset=utf-16",
  "Content-Encoding: gzip",
  "Range: bytes=0-1",
  "Cookie: a=b; a=b",
  "__proto__: x",
  "constructor: x",
  ": empty",
  "no colon",
  " folded: yes",
  "Bad Name: x",
  "X: a\u0000b",
  "X: a\rb",
  "X: a\nb",
  `X: ${"x".repeat(9_000)}`,
  `X: ${"x".repeat(20_000)}`,
  "X: \u00ff\u0080",
];
const SIZES = [
  "-1",
  "+5",
  "0x5",
  "ffffffffffffffff",
  "10000000000000000",
  "g",
  "",
  "5;",
  '5;a="\r\n"',
  "5 ",
  " 5",
  "00005",
  "5\n",
];

/** Maximum number of requests pipelined in one packet. */
const PIPELINED_MAX = 12;

/** Returns valid requests with random corruptions in their parts and bytes. */
export function corruptRequests(random: SeededRandom, valid: readonly ValidRequest[]): Buffer {
  const count = random.chance(0.2) ? 1 + random.below(PIPELINED_MAX) : 1;
  const pipelined = Array.from({ length: count }, () => {
    const parts = partsOf(random.pick(valid));
    for (let left = random.below(3); left > 0; left--) corruptPart(random, parts);
    return assemble(parts);
  });
  let bytes = Buffer.concat(pipelined);
  for (let left = random.chance(0.4) ? 1 + random.below(3) : 0; left > 0; left--) bytes = corruptByte(random, bytes);
  return bytes;
}

function corruptPart(random: SeededRandom, parts: Parts): void {
  const { fields } = parts;
  const at = random.below(fields.length);
  switch (random.below(9)) {
    case 0:
      parts.line = random.pick(LINES);
      break;
    case 1:
      fields.splice(at, 1);
      break;
    case 2:
      fields.splice(at, 0, fields[at] ?? "");
      break;
    case 3:
      fields[at] = random.chance(0.5)
        ? (fields[at] ?? "").toUpperCase()
        : (fields[at] ?? "").replace(": ", random.pick([":", " : ", ":\t\t", "\r\n : "]));
      break;
    case 4:
      parts.lineEnd = random.pick(["\n", "\r", "\r\n\t", "\r\r\n", "\n\r"]);
      break;
    case 5:
      // Wrong chunk size.
      parts.body = parts.body.replace(/^[0-9a-f]+(?=\r\n)/, random.pick(SIZES));
      break;
    case 6:
      parts.body += random.pick(["0\r\n\r\n", "0\r\nX-API-Key: a\r\n\r\n", "\r\n", "x", "GET / HTTP/1.1\r\n\r\n"]);
      break;
    default:
      fields.splice(at, random.below(2), random.pick(FIELDS));
  }
}

function corruptByte(random: SeededRandom, bytes: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> {
  const at = random.below(bytes.length + 1);
  const to = Math.min(bytes.length, at + 1 + random.below(20));
  const [before, cut, after] = [bytes.subarray(0, at), bytes.subarray(at, to), bytes.subarray(to)];
  switch (random.below(6)) {
    case 0: {
      const flipped = Buffer.from(bytes);
      if (at < bytes.length) flipped[at] = (flipped[at] ?? 0) ^ (1 << random.below(8));
      return flipped;
    }
    case 1:
      return Buffer.concat([
        before,
        Buffer.from([random.pick([0, 10, 13, 32, 58, 127, 255, random.below(256)])]),
        cut,
        after,
      ]);
    case 2:
      return Buffer.concat([before, after]);
    case 3:
      return Buffer.concat([before, cut, cut, after]);
    case 4:
      return before;
    default:
      return Buffer.concat([
        before,
        Buffer.from(Array.from({ length: 1 + random.below(8) }, () => random.below(256))),
        after,
      ]);
  }
}

/** Returns random positions at which the client pauses while sending. */
export function randomCuts(random: SeededRandom, bytes: Buffer): readonly number[] {
  if (random.chance(0.6) || bytes.length < 2) return [];
  return Array.from({ length: 1 + random.below(4) }, () => 1 + random.below(bytes.length - 1)).toSorted(
    (a, b) => a - b,
  );
}
