import { expect, test } from "vitest";
import type { Atlas } from "../../src/hazard/answer.ts";
import { HAZARD_NAMES } from "../../src/hazard/hazards.ts";
import type { HazardQueryInput } from "../../src/contract/wireTypes.ts";
import { warmUp } from "../../src/host/warmUp.ts";

function recordingAtlas(): { readonly atlas: Atlas; readonly queries: HazardQueryInput[] } {
  const queries: HazardQueryInput[] = [];
  const hazardRisk = (query: HazardQueryInput): Promise<never> => {
    queries.push(query);
    return Promise.reject(new Error("no data"));
  };
  return { atlas: { hazardRisk } as unknown as Atlas, queries };
}

test("warms up every combination of location, hazard, aggregation method and radius", async () => {
  const { atlas, queries } = recordingAtlas();
  await warmUp(atlas, new AbortController().signal);
  const combinations = new Set(
    queries.map((query) =>
      [query.latitude, query.longitude, query.hazards, query.aggregation_method, query.radius].join(" "),
    ),
  );
  const locations = new Set(queries.map(({ latitude, longitude }) => `${latitude} ${longitude}`));
  expect(combinations.size).toBe(locations.size * HAZARD_NAMES.length * 2 * 2);
});

test("includes South America, whose atlas may cover nothing else", async () => {
  const { atlas, queries } = recordingAtlas();
  await warmUp(atlas, new AbortController().signal);
  const isInSouthAmerica = ({ latitude, longitude }: HazardQueryInput): boolean =>
    latitude > -56 && latitude < 12 && longitude > -82 && longitude < -34;
  expect(queries.some(isInSouthAmerica)).toBe(true);
});

test("sends no further queries once aborted", async () => {
  const { atlas, queries } = recordingAtlas();
  await warmUp(atlas, AbortSignal.abort());
  expect(queries).toEqual([]);
});
