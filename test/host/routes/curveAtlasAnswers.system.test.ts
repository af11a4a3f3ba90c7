/**
 * Two services with the same metrics, one of which also keeps curves: their hazard-risk answers are the same bytes, except for the
 * name of the release and the entity tag that depends on it.
 */
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { HazardQueryInput } from "../../../src/contract/wireTypes.ts";
import type { LocalAtlas } from "../../../src/hazard/answer.ts";
import { ingestLayers } from "../../../src/ingest/ingest.ts";
import { openLocalAtlas } from "../../../src/openAtlas.ts";
import { parametersOf, queryTextOf, validQueries } from "../../hazard/queries.ts";
import { folder, manifest, map, useIngestFolder } from "../../ingest/ingestFixture.ts";
import { randomFrom } from "../../seededRandom.ts";
import { bulkFixture } from "../bulk/bulkFixture.ts";
import { startTestHost, type TestHost } from "../testHost.ts";

useIngestFolder();

const HAZARD_RISK = "/api/v1/hazard-risk";
/** Header fields that differ between any two responses of one service: time, id, and what is left of the request rate. */
const FIELDS_OF_RESPONSE = new Set(["date", "x-request-id", "ratelimit"]);
/** Header fields that name the release, or are computed from its name and the content of the atlas. */
const FIELDS_OF_RELEASE = new Set(["x-atlas-release", "etag"]);
/** Compressed, the size of a problem depends on the id of the request in it. */
const UNCOMPRESSED = { "Accept-Encoding": "identity" };

/** Writes maps of two climate models, with missing, dry and flooded cells, and returns a manifest for each hazard. */
async function writeManifests(): Promise<readonly string[]> {
  const random = randomFrom(171);
  const layersOf = async (scale: number, models: readonly string[]): Promise<readonly object[]> => {
    const layers: object[] = [];
    const places = [
      { scenario: "baseline", year: 1980 },
      { scenario: "rcp4p5", year: 2030 },
      { scenario: "rcp8p5", year: 2050 },
    ];
    for (const place of places) {
      for (const model of models) {
        const levels = Array.from({ length: 400 }, () => (random.chance(0.1) ? NaN : random.next() - 0.3));
        for (const return_period_years of [2, 10, 50, 100, 500]) {
          const file = `${scale}-${place.scenario}-${model}-${return_period_years}.tif`;
          await map(file, (cell) => {
            const level = levels[(cell * 7 + Math.floor(cell / 80)) % levels.length] ?? NaN;
            return Number.isNaN(level) ? -9999 : Math.max(0, scale * level * Math.log(return_period_years));
          });
          layers.push({ ...place, ...(models.length > 1 ? { model } : {}), return_period_years, file });
        }
      }
    }
    return layers;
  };
  const floods = await manifest({ layers: await layersOf(1, ["a", "b"]) }, "floods.json");
  const winds = await manifest({ hazard: "cyclones", layers: await layersOf(14, ["a"]) }, "winds.json");
  return [floods, winds];
}

async function ingestAll(manifests: readonly string[], name: string, keepCurves: boolean): Promise<LocalAtlas> {
  const out = join(folder, name);
  for (const file of manifests) await ingestLayers({ manifest: file, out, keepCurves });
  return openLocalAtlas(out, 16 << 20);
}

interface Answer {
  readonly status: number;
  readonly fields: Readonly<Record<string, string>>;
  /** Without the name of the release, the day of the ingest and the id of the request. */
  readonly body: string;
}

async function answerOf(response: Response, release: string): Promise<Answer> {
  const fields = Object.fromEntries(response.headers);
  const body = (await response.text())
    .replaceAll(release, "RELEASE")
    .replaceAll(/"ingested_on":"[-0-9]+"/g, '"ingested_on":"DAY"')
    .replaceAll(fields["x-request-id"] ?? "no request id", "REQUEST");
  return { status: response.status, fields, body };
}

function comparable({ status, fields, body }: Answer): object {
  const compared = Object.entries(fields).filter(
    ([name]) => !FIELDS_OF_RESPONSE.has(name) && !FIELDS_OF_RELEASE.has(name),
  );
  return { status, fields: Object.fromEntries(compared), body };
}

/** Returns valid queries inside and outside of the maps, some of which ask for what no hazard offers. */
function queriesOf(seed: number, count: number): readonly HazardQueryInput[] {
  const random = randomFrom(seed);
  return fc.sample(validQueries, { seed, numRuns: count }).map((query) => ({
    ...query,
    latitude: random.between({ min: 12.5, max: 20.5 }),
    longitude: random.between({ min: 9.5, max: 18.5 }),
    ...(random.chance(0.5) ? { radius: random.between({ min: 1, max: 100 }) } : {}),
    ...(random.chance(0.1) ? { analysis_years: [1990] } : {}),
  }));
}

/** Compares the answers of services to the same requests. */
async function compareServices(
  services: readonly { readonly host: TestHost; readonly release: string }[],
): Promise<void> {
  const releases = services.map(({ release }) => release);
  const compare = async (send: (host: TestHost) => Promise<Response>): Promise<readonly [Answer, Answer]> => {
    const [first, second] = await Promise.all(
      services.map(async ({ host, release }) => answerOf(await send(host), release)),
    );
    if (first === undefined || second === undefined) throw new Error("There are two services.");
    expect(comparable(second)).toEqual(comparable(first));
    return [first, second];
  };
  const statuses = new Set<number>();
  for (const query of queriesOf(172, 150)) {
    const target = `${HAZARD_RISK}?${queryTextOf(parametersOf(query))}`;
    const answers = await compare((host) => host.ask(target, { headers: UNCOMPRESSED }));
    statuses.add(answers[0].status);
    if (answers[0].status !== 200) continue;
    expect(answers.map(({ fields }) => fields["x-atlas-release"])).toEqual(releases);
    const [etag, otherEtag] = answers.map(({ fields }) => fields["etag"]);
    expect(etag).not.toBe(otherEtag);
  }
  expect(statuses).toEqual(new Set([200, 422]));
  for (const seed of [173, 174, 175]) {
    const body = JSON.stringify([...queriesOf(seed, 60), { latitude: 91 }]);
    const headers = { ...UNCOMPRESSED, "Content-Type": "application/json" };
    const answers = await compare((host) => host.ask(`${HAZARD_RISK}/batch`, { method: "POST", headers, body }));
    expect(answers.map(({ fields }) => fields["x-atlas-release"])).toEqual(releases);
    expect(answers[0].status).toBe(200);
    expect(answers[0].body).toContain('"depth_meters"');
  }
}

test("an atlas with curves answers as one without, also in worker threads", { timeout: 300_000 }, async () => {
  const manifests = await writeManifests();
  const atlases = [await ingestAll(manifests, "plain", false), await ingestAll(manifests, "curves", true)];
  const lengths = atlases.map(({ holdings }) =>
    holdings.flatMap(({ layers }) => layers.map((layer) => layer.curve_return_periods?.length)),
  );
  expect(lengths).toEqual([Array(6).fill(undefined), Array(6).fill(5)]);
  expect(new Set(atlases.map(({ release }) => release)).size).toBe(2);
  for (const hasWorkers of [false, true]) {
    const services = await Promise.all(
      atlases.map(async (atlas) => ({
        host: await startTestHost({ atlas: hasWorkers ? bulkFixture({ atlas }).atlas : atlas }),
        release: atlas.release,
      })),
    );
    try {
      await compareServices(services);
    } finally {
      await Promise.all(services.map(({ host }) => host.close()));
    }
  }
  await Promise.all(atlases.map((atlas) => atlas.close()));
});
