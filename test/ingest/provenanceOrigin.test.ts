import { afterEach, expect, test, vi } from "vitest";
import { ingestLayers } from "../../src/ingest/ingest.ts";
import { manifest, map, out, readCatalog, useIngestFolder } from "./ingestFixture.ts";

useIngestFolder();

afterEach(() => void vi.useRealTimers());

const originOf = async () => {
  const { release, hazards } = await readCatalog();
  const groups = hazards.flatMap(({ packs }) => packs.flatMap((pack) => pack.groups));
  const live = groups.filter(({ superseded }) => superseded !== true);
  return { release, origins: live.map(({ provenance }) => [provenance["program"], provenance["ingested_on"]]) };
};

test("repeating an ingest on another day keeps the date and the release; another map gets a new date", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-01-02T03:04:05Z") });
  await map("depth.tif", () => 1);
  const layers = [{ scenario: "rcp4p5", year: 2030, metric: "depth_meters", file: "depth.tif" }];
  await ingestLayers({ manifest: await manifest({ layers }), out });
  const first = await originOf();
  expect(first.origins).toEqual([[expect.stringMatching(/^isotherm \d/) as string, "2026-01-02"]]);

  vi.setSystemTime(new Date("2026-01-05T00:00:00Z"));
  await ingestLayers({ manifest: await manifest({ layers }), out });
  expect(await originOf()).toEqual(first);

  await map("depth.tif", () => 2);
  await ingestLayers({ manifest: await manifest({ layers }), out });
  const changed = await originOf();
  expect(changed.release).not.toBe(first.release);
  expect(changed.origins.map(([, date]) => date)).toEqual(["2026-01-05"]);
});
