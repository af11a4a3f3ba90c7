/** Map tiles over HTTP: values, images, TileJSON, tokens, caching and limits. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Problem, TileJson } from "../../../src/contract/wireTypes.ts";
import type { Atlas } from "../../../src/hazard/answer.ts";
import { TileTokens } from "../../../src/host/tiles/tileTokens.ts";
import { openAtlas } from "../../../src/openAtlas.ts";
import { WorkerDeathError } from "../../../src/pool/workerDeath.ts";
import {
  colorOf,
  colorScaleOf,
  isHatchLine,
  NO_DATA_COLOR,
  NO_DATA_LINE_COLOR,
} from "../../../src/tiles/colorScales.ts";
import { decodeValueTile, STEP_NO_DATA, STEP_OUTSIDE, valueOfStep } from "../../../src/tiles/valueTile.ts";
import { decodePng } from "../decodePng.ts";
import { startTestHost, type TestHost } from "../testHost.ts";

const LAYER = "riverine_floods/rcp8p5/2050/depth_meters";
const TILE = `${LAYER}/8/158/119`;
const PATH = "/api/v1/tiles";

let atlas: Atlas;
let host: TestHost;
beforeAll(async () => {
  atlas = await openAtlas("demo");
  host = await startTestHost({ atlas });
});
afterAll(async () => {
  await host.close();
  await atlas.close();
});

async function bytesOf(response: Response): Promise<Uint8Array> {
  return new Uint8Array(await response.arrayBuffer());
}

async function tileJsonOf(layer = LAYER, from = host): Promise<TileJson> {
  const response = await from.ask(`${PATH}/${layer}.json`);
  expect(response.status).toBe(200);
  return (await response.json()) as TileJson;
}

function tokenOf({ tiles }: TileJson): string {
  return new URL(tiles[0] ?? "").searchParams.get("token") ?? "";
}

/** Requests a tile without an API key. */
function fetchWith(token: string, { layer = LAYER, at = "8/158/119.bin", from = host } = {}): Promise<Response> {
  return fetch(`${from.address.url}${PATH}/${layer}/${at}?token=${token}`);
}

async function problemOf(response: Response): Promise<Problem> {
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  return (await response.json()) as Problem;
}

describe("value tiles", () => {
  test("have the steps of the library, with content type, ETag and cache lifetime", async () => {
    const response = await host.ask(`${PATH}/${TILE}.bin`);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/octet-stream");
    expect(response.headers.get("cache-control")).toBe("private, max-age=3600");
    expect(response.headers.get("etag")).toMatch(/^"[\w-]+"$/);
    expect(response.headers.get("x-usage-units")).toBeNull();
    const { steps, ...header } = decodeValueTile(await bytesOf(response));
    const request = {
      hazard: "riverine_floods",
      scenario: "rcp8p5",
      analysisYear: 2050,
      metric: "depth_meters",
    } as const;
    const expected = await atlas.valueTile({ ...request, z: 8, x: 158, y: 119 });
    expect(header).toEqual({ stepsPerUnit: 1000, offset: 0, isBlockMaximum: false, blockSizeCells: 1 });
    expect(Buffer.from(steps.buffer).equals(Buffer.from(expected.steps.buffer))).toBe(true);
    expect(new Set(steps).size).toBeGreaterThan(100);
    expect(host.ledger.entries).toEqual([]);
  });

  test("of a layer of return periods have its values", async () => {
    const response = await host.ask(`${PATH}/riverine_floods/rcp8p5/2050/rp_100/8/158/119.bin`);
    const own = await host.ask(`${PATH}/${TILE}.bin`);
    // The hazard's own metric is the value of 100 years.
    expect(Buffer.from(await bytesOf(response)).equals(Buffer.from(await bytesOf(own)))).toBe(true);
  });

  test.each(["gzip", "br"])("are compressed with %s", async (coding) => {
    const response = await host.ask(`${PATH}/${TILE}.bin`, { headers: { "Accept-Encoding": coding } });
    expect(response.headers.get("content-encoding")).toBe(coding);
    const plain = await host.ask(`${PATH}/${TILE}.bin`, { headers: { "Accept-Encoding": "identity" } });
    expect(plain.headers.get("content-encoding")).toBeNull();
    expect(Buffer.from(await bytesOf(response)).equals(Buffer.from(await bytesOf(plain)))).toBe(true);
  });

  test("return 304 to a client that has the current tile, and no body to HEAD", async () => {
    const first = await host.ask(`${PATH}/${TILE}.bin`);
    const again = await host.ask(`${PATH}/${TILE}.bin`, {
      headers: { "If-None-Match": first.headers.get("etag") ?? "" },
    });
    expect(again.status).toBe(304);
    expect(again.headers.get("cache-control")).toBe("private, max-age=3600");
    expect((await bytesOf(again)).length).toBe(0);
    const head = await host.ask(`${PATH}/${TILE}.bin`, { method: "HEAD" });
    expect([head.status, (await bytesOf(head)).length]).toEqual([200, 0]);
    expect(head.headers.get("etag")).toBe(first.headers.get("etag"));
  });
});

test("a tile that was requested before is not computed again, in any form of its path", async () => {
  const computed: string[] = [];
  const counting: Atlas = {
    ...atlas,
    valueTile(request, options) {
      computed.push(`${request.z}/${request.x}/${request.y}`);
      return atlas.valueTile(request, options);
    },
  };
  const counted = await startTestHost({ atlas: counting });
  try {
    const paths = [`${PATH}/${TILE}.bin`, `/latest${PATH}/${TILE}.bin`, `${PATH}/${TILE}.png`, `${PATH}/${TILE}.png`];
    const bodies = [];
    for (const path of paths) bodies.push(Buffer.from(await bytesOf(await counted.ask(path))));
    expect(computed).toEqual(["8/158/119", "8/158/119"]);
    expect([bodies[0]?.equals(bodies[1] ?? Buffer.of()), bodies[2]?.equals(bodies[3] ?? Buffer.of())]).toEqual([
      true,
      true,
    ]);
  } finally {
    await counted.close();
  }
});

test("tiles and the TileJSON name the release of the atlas, also to a client that has the tile, and in problems", async () => {
  const etag = (await host.ask(`${PATH}/${TILE}.bin`)).headers.get("etag") ?? "";
  const requests = [
    { path: `${TILE}.bin`, status: 200 },
    { path: `${TILE}.bin`, status: 304, headers: { "If-None-Match": etag } },
    { path: `${TILE}.png`, status: 200 },
    { path: `${LAYER}.json`, status: 200 },
    { path: `${LAYER}/23/0/0.png`, status: 400 },
  ];
  for (const { path, status, headers } of requests) {
    const response = await host.ask(`${PATH}/${path}`, headers && { headers });
    const release = response.headers.get("x-atlas-release");
    expect({ path, status: response.status, release }).toEqual({ path, status, release: atlas.release });
  }
});

test("a tile states the size of its blocks, also when it was computed before", async () => {
  const withBlocks: Atlas = {
    ...atlas,
    async valueTile(request, options) {
      const tile = await atlas.valueTile(request, options);
      return request.z === 8 ? tile : { ...tile, isBlockMaximum: true, blockSizeCells: 64 };
    },
  };
  const blockHost = await startTestHost({ atlas: withBlocks });
  try {
    for (const extension of ["bin", "bin", "png", "png"]) {
      const sizes = [];
      for (const address of ["8/158/119", "3/4/3"]) {
        const response = await blockHost.ask(`${PATH}/${LAYER}/${address}.${extension}`);
        sizes.push(response.headers.get("x-block-size-cells"));
      }
      expect({ extension, sizes }).toEqual({ extension, sizes: ["1", "64"] });
    }
  } finally {
    await blockHost.close();
  }
});

describe("images", () => {
  test("have the colors of the steps, hatched where a value is missing", async () => {
    const response = await host.ask(`${PATH}/${TILE}.png`, { headers: { "Accept-Encoding": "gzip, br" } });
    expect(response.headers.get("content-type")).toBe("image/png");
    expect(response.headers.get("content-encoding")).toBeNull();
    const image = decodePng(await bytesOf(response));
    const tile = decodeValueTile(await bytesOf(await host.ask(`${PATH}/${TILE}.bin`)));
    const scale = colorScaleOf("depth_meters");
    for (const [pixel, step] of tile.steps.entries()) {
      const [row, column] = [pixel >> 8, pixel & 255];
      const expected =
        step === STEP_OUTSIDE
          ? [0, 0, 0, 0]
          : step === STEP_NO_DATA
            ? isHatchLine(column, row)
              ? NO_DATA_LINE_COLOR
              : NO_DATA_COLOR
            : colorOf(scale, valueOfStep(tile, step) ?? NaN);
      if (image.colorAt(column, row).join() !== expected.join()) {
        expect({ row, column, color: image.colorAt(column, row) }).toEqual({ row, column, color: expected });
      }
    }
    expect([image.width, image.height]).toEqual([256, 256]);
  });
});

describe("TileJSON", () => {
  test("describes the layer, and its URLs work without a header field", async () => {
    const response = await host.ask(`${PATH}/${LAYER}.json`);
    expect(response.headers.get("cache-control")).toBe("no-store");
    const json = (await response.json()) as TileJson;
    expect(json).toMatchObject({
      tilejson: "3.0.0",
      minzoom: 0,
      maxzoom: 8,
      // The demo keeps no maxima.
      block_size_cells_by_zoom: Array.from({ length: 9 }, () => 1),
      bounds: [-180, -85.0511287798066, 180, 85.0511287798066].map((deg) => expect.closeTo(deg, 9) as number),
      attribution: "Isotherm; Invented values, not fit for any decision",
      unit: "m",
      steps_per_unit: 1000,
      offset: 0,
      synthetic: true,
      color_stops: colorScaleOf("depth_meters").stops,
    });
    for (const template of [...json.tiles, ...json.value_tiles]) {
      const url = template.replace("{z}", "8").replace("{x}", "158").replace("{y}", "119");
      expect(url.startsWith(`${host.address.url}${PATH}/${LAYER}/8/158/119.`)).toBe(true);
      expect((await fetch(url)).status).toBe(200);
    }
    expect(Date.parse(json.expires_at) - Date.now()).toBeLessThanOrEqual(24 * 3600_000);
    expect(Date.parse(json.expires_at) - Date.now()).toBeGreaterThan(22 * 3600_000);
  });

  test("of a return period has the color scale of the hazard's own metric", async () => {
    const json = await tileJsonOf("cyclones/rcp4p5/2050/rp_50");
    expect(json).toMatchObject({ unit: "m/s", color_stops: colorScaleOf("wind_speed_mps").stops });
  });

  test("has https URLs only behind a trusted proxy that forwards https", async () => {
    const headers = { "X-Forwarded-Proto": "https" };
    const direct = (await (await host.ask(`${PATH}/${LAYER}.json`, { headers })).json()) as TileJson;
    expect(direct.tiles[0]).toMatch(/^http:/);
    const proxied = await startTestHost({ atlas, trustedProxies: ["127.0.0.1"], prefix: "/climate" });
    const json = (await (await proxied.ask(`/climate${PATH}/${LAYER}.json`, { headers })).json()) as TileJson;
    expect(json.tiles[0]).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/climate\/api\/v1\/tiles\//);
    await proxied.close();
  });
});

describe("tokens", () => {
  test("are rejected for another layer", async () => {
    const response = await fetchWith(tokenOf(await tileJsonOf()), {
      layer: "riverine_floods/rcp4p5/2050/depth_meters",
    });
    expect(response.status).toBe(401);
    expect(await problemOf(response)).toMatchObject({ code: "token_invalid", errors: [{ parameter: "token" }] });
    expect(response.headers.get("www-authenticate")).not.toBeNull();
  });

  test("are rejected if any character was changed", async () => {
    const token = tokenOf(await tileJsonOf());
    for (const at of [0, 40, token.length - 30]) {
      const changed = `${token.slice(0, at)}${token[at] === "1" ? "2" : "1"}${token.slice(at + 1)}`;
      const response = await fetchWith(changed);
      expect({ at, status: response.status }).toEqual({ at, status: 401 });
      expect(await problemOf(response)).toMatchObject({ code: "token_invalid" });
    }
  });

  test("are rejected after they have expired", async () => {
    const past = new TileTokens(host.ledger, () => Date.now() - 25 * 3600_000);
    const { token, expiresAtS } = await past.issue(host.keyId, LAYER);
    const response = await fetchWith(token);
    expect(response.status).toBe(401);
    const expiredAt = new Date(expiresAtS * 1000).toISOString();
    expect((await problemOf(response)).detail).toBe(
      `The token expired at ${expiredAt}; get the TileJSON of the layer again.`,
    );
  });

  test("are rejected once their key is revoked or their account suspended", async () => {
    const { accountId } = await host.ledger.createAccount({ name: "Other" });
    const issued = await host.ledger.createKey({ accountId });
    const response = await host.ask(`${PATH}/${LAYER}.json`, { headers: { "X-API-Key": issued.secret } });
    const token = tokenOf((await response.json()) as TileJson);
    expect((await fetchWith(token)).status).toBe(200);
    await host.ledger.setAccountSuspended(accountId, true);
    expect(await problemOf(await fetchWith(token))).toMatchObject({ code: "account_suspended" });
    await host.ledger.setAccountSuspended(accountId, false);
    await host.ledger.revokeKey(issued.key.keyId);
    expect(await problemOf(await fetchWith(token))).toMatchObject({ status: 401, code: "api_key_revoked" });
  });

  test("are accepted by another host of the same ledger, and not by one of another ledger", async () => {
    const token = tokenOf(await tileJsonOf());
    const sameLedger = await startTestHost({ atlas, ledger: host.ledger });
    const otherLedger = await startTestHost({ atlas });
    try {
      expect((await fetchWith(token, { from: sameLedger })).status).toBe(200);
      expect((await fetchWith(token, { from: otherLedger })).status).toBe(401);
    } finally {
      await sameLedger.close();
      await otherLedger.close();
    }
  });

  test("replace the key only on map tiles", async () => {
    const token = tokenOf(await tileJsonOf());
    for (const path of [`${PATH}/${LAYER}.json`, "/api/v1/hazards", "/api/v1/limits"]) {
      const response = await fetch(`${host.address.url}${path}?token=${token}`);
      expect({ path, status: response.status }).toEqual({ path, status: 401 });
      expect(await problemOf(response)).toMatchObject({ code: "api_key_missing" });
    }
    for (const query of ["", "?token="]) {
      const url = `${host.address.url}${PATH}/${TILE}.bin${query}`;
      expect({ query, ...(await problemOf(await fetch(url))) }).toMatchObject({ query, code: "api_key_missing" });
    }
    expect((await host.ask(`${PATH}/${TILE}.bin?token=`)).status).toBe(200);
  });
});

describe("errors", () => {
  test.each([
    {
      path: `${LAYER}/23/0/0.bin`,
      code: "out_of_range",
      parameter: "z",
      detail: "z must be between 0 and 22 (got 23).",
    },
    {
      path: `${LAYER}/2/4/0.png`,
      code: "out_of_range",
      parameter: "x",
      detail: "x must be between 0 and 3 at zoom 2 (got 4).",
    },
    {
      path: `${LAYER}/2/0/9.bin`,
      code: "out_of_range",
      parameter: "y",
      detail: "y must be between 0 and 3 at zoom 2 (got 9).",
    },
    { path: `${LAYER}/2/0/-1.bin`, code: "out_of_range", parameter: "y", detail: /^y must be .*at least 0 \(got -1\)/ },
    { path: `${LAYER}/2/1.5/0.bin`, code: "wrong_type", parameter: "x", detail: /^x must be an integer/ },
    {
      path: "floods/rcp8p5/2050/depth_meters/0/0/0.bin",
      code: "not_allowed",
      parameter: "hazard",
      detail: /riverine_floods/,
    },
    {
      path: "riverine_floods/rcp9/2050/depth_meters/0/0/0.bin",
      code: "not_allowed",
      parameter: "scenario",
      detail: /rcp8p5/,
    },
    {
      path: "riverine_floods/rcp8p5/x/depth_meters.json",
      code: "wrong_type",
      parameter: "year",
      detail: /integer/,
    },
    { path: `${TILE}.bin?size=512`, code: "unknown", parameter: "size", detail: /token/ },
  ])("name the parameter: $path", async ({ path, code, parameter, detail }) => {
    const response = await host.ask(`${PATH}/${path}`);
    expect(response.status).toBe(400);
    const { errors = [], ...problem } = await problemOf(response);
    expect(problem.code).toBe("invalid_request");
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatchObject({ code, parameter });
    if (typeof detail === "string") expect(errors[0]?.detail).toBe(detail);
    else expect(errors[0]?.detail).toMatch(detail);
  });

  test("of several parameters are reported together", async () => {
    const response = await host.ask(`${PATH}/floods/rcp9/2050/depth_meters/99/a/0.bin?size=1`);
    const { errors = [] } = await problemOf(response);
    expect(new Set(errors.map(({ parameter }) => parameter))).toEqual(
      new Set(["hazard", "scenario", "size", "x", "z"]),
    );
    expect(errors).toHaveLength(5);
  });

  test.each([
    { path: "riverine_floods/rcp2p6/2050/depth_meters", parameter: "scenario", offer: /rcp4p5, rcp8p5/ },
    { path: "riverine_floods/rcp8p5/2040/depth_meters", parameter: "year", offer: /1980, 2030, 2050, 2080/ },
    { path: "riverine_floods/rcp8p5/2050/wind_speed_mps", parameter: "metric", offer: /depth_meters.*rp_2.*rp_1000/ },
    { path: "wildfire/rcp8p5/2050/rp_100", parameter: "metric", offer: /fire_danger_days/ },
  ])("name what is offered: $path", async ({ path, parameter, offer }) => {
    for (const target of [`${path}.json`, `${path}/0/0/0.bin`, `${path}/0/0/0.png`]) {
      const response = await host.ask(`${PATH}/${target}`);
      expect({ target, status: response.status }).toEqual({ target, status: 422 });
      const { code, errors = [] } = await problemOf(response);
      expect(code).toBe("combination_unavailable");
      expect(errors).toHaveLength(1);
      expect(errors[0]?.parameter).toBe(parameter);
      expect(errors[0]?.detail).toMatch(offer);
    }
  });

  test("of paths without an extension are unknown paths", async () => {
    expect((await host.ask(`${PATH}/${TILE}`)).status).toBe(404);
    expect((await host.ask(`${PATH}/${TILE}.gif`)).status).toBe(404);
    expect((await host.ask(`/latest${PATH}/${TILE}.bin`)).status).toBe(200);
  });
});

test("a tile whose worker ends can be requested again", async () => {
  let isAlive = false;
  const dying: Atlas = {
    ...atlas,
    async valueTile(request, options) {
      if (isAlive) return atlas.valueTile(request, options);
      isAlive = true;
      throw new WorkerDeathError("out of memory");
    },
  };
  const other = await startTestHost({ atlas: dying });
  try {
    const response = await other.ask(`${PATH}/${TILE}.png`);
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await problemOf(response)).toMatchObject({ code: "overloaded", retryable: true });
    expect(other.records.at(-1)?.error).toMatchObject({ name: "WorkerDeathError" });
    expect((await other.ask(`${PATH}/${TILE}.png`)).status).toBe(200);
  } finally {
    await other.close();
  }
});

describe("limits", () => {
  test("of map tiles and of other requests are separate, and both are listed", async () => {
    const limited = await startTestHost({
      atlas,
      limits: { tilesPerS: 0.002, tileBurst: 2, requestsPerS: 0.001, requestBurst: 3 },
    });
    try {
      const limits = await limited.ask("/api/v1/limits");
      expect(await limits.json()).toMatchObject({ tiles_per_second: 0.002, tile_burst: 2, requests_per_second: 0.001 });
      const tiles = [];
      for (let i = 0; i < 3; i++) tiles.push(await limited.ask(`${PATH}/${LAYER}/0/0/0.bin`));
      expect(tiles.map(({ status }) => status)).toEqual([200, 200, 429]);
      expect(tiles[0]?.headers.get("ratelimit")).toMatch(/^"tiles";r=1;/);
      expect(tiles[2]?.headers.get("ratelimit-policy")).toBe('"tiles";q=2;w=1000');
      expect(tiles[2]?.headers.get("retry-after")).toMatch(/^\d+$/);
      const others = [];
      for (let i = 0; i < 3; i++) others.push(await limited.ask("/api/v1/limits"));
      expect(others.map(({ status }) => status)).toEqual([200, 200, 429]);
      expect(others[0]?.headers.get("ratelimit")).toMatch(/^"account";r=1;/);
    } finally {
      await limited.close();
    }
  });
});
