import { EXAMPLE_COMPANY } from "../company/exampleCompany.ts";
import { ENTITY } from "../host/entities.ts";
import type { SeededRandom } from "../seededRandom.ts";
import { requestBytes } from "./connection.ts";

/** A request as sent over the wire, and the expected status. */
export interface TestRequest {
  readonly bytes: Buffer;
  readonly status: number;
}

type Headers = Readonly<Record<string, string>>;

const HAZARDS = {
  cyclones: { years: [2025, 2030, 2040, 2050, 2080], scenarios: ["rcp2p6", "rcp4p5", "rcp8p5"] },
  riverine_floods: { years: [2030, 2050, 2080], scenarios: ["rcp4p5", "rcp8p5"] },
  coastal_floods: { years: [2030, 2050, 2080], scenarios: ["rcp4p5", "rcp8p5"] },
} as const;
const COMPANY = { ...EXAMPLE_COMPANY, assessment_years: [2030, 2050] };

function placeQuery(random: SeededRandom): Readonly<Record<string, unknown>> {
  const hazard = random.pick(["cyclones", "riverine_floods", "coastal_floods"] as const);
  const { years, scenarios } = HAZARDS[hazard];
  return {
    // Only a few tiles, so that the service is measured rather than the generation of demo data.
    latitude: Number(random.between({ min: 20, max: 22 }).toFixed(4)),
    longitude: Number(random.between({ min: 120, max: 122 }).toFixed(4)),
    ...(random.chance(0.3) ? { radius: 1 + random.below(20) } : {}),
    hazards: [hazard],
    analysis_years: years.slice(0, 1 + random.below(years.length)),
    scenarios: scenarios.slice(0, 1 + random.below(scenarios.length)),
  };
}

/** Returns a GET for one random location. */
export function pointRequest(random: SeededRandom, headers: Headers): TestRequest {
  const parameters = Object.entries(placeQuery(random)).map(([name, value]) => `${name}=${String(value)}`);
  return { bytes: requestBytes(`GET /api/v1/hazard-risk?${parameters.join("&")}`, { headers }), status: 200 };
}

/** Returns a batch of `count` random locations. */
export function batchRequest(
  random: SeededRandom,
  { headers, count }: { headers: Headers; count: number },
): TestRequest {
  const body = JSON.stringify(Array.from({ length: count }, () => placeQuery(random)));
  return { bytes: requestBytes("POST /api/v1/hazard-risk/batch", { headers, body }), status: 200 };
}

/** Returns a request of any kind, roughly in the proportions of real traffic. */
export function mixedRequest(random: SeededRandom, headers: Headers): TestRequest {
  const dice = random.below(20);
  if (dice < 11) return pointRequest(random, headers);
  if (dice < 14) return batchRequest(random, { headers, count: 1 + random.below(200) });
  const post = (path: string, value: unknown, status = 200): TestRequest => ({
    bytes: requestBytes(`POST ${path}`, { headers, body: JSON.stringify(value) }),
    status,
  });
  const get = (target: string, status = 200): TestRequest => ({
    bytes: requestBytes(`GET ${target}`, { headers }),
    status,
  });
  switch (dice) {
    case 14:
      return post(
        "/api/v1/temperature-alignment-projections",
        Array.from({ length: 1 + random.below(100) }, () => ENTITY),
      );
    case 15:
      return post("/analyze/total-climate-risk", COMPANY);
    case 16:
      return post("/latest/api/v1/customers", { internal_id: "soak" });
    case 17:
      return get(
        random.pick(["/latest/api/v1/usage?group_by=day", "/api/v1/limits", "/openapi.json", "/api/v1/hazards"]),
      );
    case 18:
      return get("/api/v1/hazard-risk?latitude=91", 400);
    default:
      return post("/api/v1/hazard-risk/batch", { not: "a list" }, 400);
  }
}
