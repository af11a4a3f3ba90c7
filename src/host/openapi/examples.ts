import type { Problem } from "../problems/problem.ts";

interface Example {
  /** Of an answer that is cut: what of it is shown. */
  readonly summary?: string;
  readonly value: unknown;
}

interface Examples {
  /** By operation and status. */
  readonly answers: Readonly<Record<string, Readonly<Record<string, Example>>>>;
  /** By code and status, as `rate_limited_429`. */
  readonly problems: Readonly<Record<string, Problem>>;
}

/**
 * What the service answers, word for word, but for ids and times: test/host/examples.test.ts asks it over a socket,
 * compares, and with ISOTHERM_UPDATE_EXAMPLES=1 writes what it was told below this line.
 */
export const EXAMPLES: Examples = {
  answers: {
    getHazardRisk: {
      "200": {
        value: {
          location: { latitude: 11.59, longitude: 43.15 },
          aggregation: { radius_km: 10, method: "max" },
          results: [
            {
              hazard: "riverine_floods",
              scenarios: [
                {
                  scenario: "rcp8p5",
                  analysis_years: [
                    {
                      analysis_year: 2050,
                      metrics: { intensity: 0.86, depth_meters: 8.6, probability: 0.5 },
                      bounds: { probability: { bound: "at_least", limit: 0.5 } },
                    },
                  ],
                },
              ],
            },
            {
              hazard: "coastal_floods",
              scenarios: [
                {
                  scenario: "rcp8p5",
                  analysis_years: [
                    {
                      analysis_year: 2050,
                      metrics: { intensity: 0.3128, depth_meters: 3.128, probability: 0.5 },
                      bounds: { probability: { bound: "at_least", limit: 0.5 } },
                    },
                  ],
                },
              ],
            },
          ],
        },
      },
    },
    postHazardRiskBatch: {
      "200": {
        value: {
          results: [
            {
              location: { latitude: 11.59, longitude: 43.15 },
              aggregation: { radius_km: 10, method: "max" },
              results: [
                {
                  hazard: "riverine_floods",
                  scenarios: [
                    {
                      scenario: "rcp8p5",
                      analysis_years: [
                        {
                          analysis_year: 2050,
                          metrics: { intensity: 0.86, depth_meters: 8.6, probability: 0.5 },
                          bounds: { probability: { bound: "at_least", limit: 0.5 } },
                        },
                      ],
                    },
                  ],
                },
                {
                  hazard: "coastal_floods",
                  scenarios: [
                    {
                      scenario: "rcp8p5",
                      analysis_years: [
                        {
                          analysis_year: 2050,
                          metrics: { intensity: 0.3128, depth_meters: 3.128, probability: 0.5 },
                          bounds: { probability: { bound: "at_least", limit: 0.5 } },
                        },
                      ],
                    },
                  ],
                },
              ],
            },
            {
              location: { latitude: 25.76, longitude: -80.19 },
              results: [
                {
                  hazard: "cyclones",
                  scenarios: [
                    {
                      scenario: "rcp4p5",
                      analysis_years: [
                        {
                          analysis_year: 2030,
                          metrics: { intensity: 0.6932, wind_speed_mps: 69.32, probability: 0.3287833333333333 },
                        },
                        {
                          analysis_year: 2050,
                          metrics: { intensity: 0.7006, wind_speed_mps: 70.06, probability: 0.34003333333333335 },
                        },
                      ],
                    },
                  ],
                },
              ],
            },
          ],
        },
      },
    },
    listHazards: {
      "200": {
        value: {
          release: "demo-synthetic-1-433fa186",
          synthetic: true,
          hazards: [
            {
              hazard: "cyclones",
              analysis_years: [1980, 2025, 2030, 2040, 2050, 2080],
              scenarios: ["baseline", "rcp2p6", "rcp4p5", "rcp6p0", "rcp8p5"],
              metrics: [
                { metric: "intensity", unit: "1", meaning: "min(1, wind_speed_mps / 100 m/s)" },
                {
                  metric: "wind_speed_mps",
                  unit: "m/s",
                  meaning: "1-minute sustained wind 10 m above ground with a return period of 100 years",
                },
                {
                  metric: "probability",
                  unit: "1",
                  meaning: "annual probability of wind of at least 33 m/s (Saffir-Simpson category 1)",
                },
                {
                  metric: "total_hazard",
                  unit: "1",
                  meaning: "intensity x probability of the cell: severity times likelihood",
                },
              ],
              resolution_deg: 0.1,
              grid: {
                north_deg: 90,
                west_deg: -180,
                cell_size_lat_deg: 0.1,
                cell_size_lon_deg: 0.1,
                row_count: 1800,
                column_count: 3600,
              },
              coverage: { north: 90, south: -90, west: -180, east: 180 },
              rules: {
                design_return_period_years: 100,
                threshold: 33,
                threshold_unit: "m/s",
                intensity_reference: 100,
                curve: "log",
              },
              layers: [
                {
                  scenario: "baseline",
                  analysis_year: 1980,
                  metrics: ["intensity", "wind_speed_mps", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                    return_periods_years: [2, 1000],
                  },
                },
                {
                  scenario: "rcp2p6",
                  analysis_year: 2025,
                  metrics: ["intensity", "wind_speed_mps", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                    return_periods_years: [2, 1000],
                  },
                },
                {
                  scenario: "rcp2p6",
                  analysis_year: 2030,
                  metrics: ["intensity", "wind_speed_mps", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                    return_periods_years: [2, 1000],
                  },
                },
                {
                  scenario: "rcp2p6",
                  analysis_year: 2040,
                  metrics: ["intensity", "wind_speed_mps", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                    return_periods_years: [2, 1000],
                  },
                },
                {
                  scenario: "rcp2p6",
                  analysis_year: 2050,
                  metrics: ["intensity", "wind_speed_mps", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                    return_periods_years: [2, 1000],
                  },
                },
                {
                  scenario: "rcp2p6",
                  analysis_year: 2080,
                  metrics: ["intensity", "wind_speed_mps", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                    return_periods_years: [2, 1000],
                  },
                },
                {
                  scenario: "rcp4p5",
                  analysis_year: 2025,
                  metrics: ["intensity", "wind_speed_mps", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                    return_periods_years: [2, 1000],
                  },
                },
                {
                  scenario: "rcp4p5",
                  analysis_year: 2030,
                  metrics: ["intensity", "wind_speed_mps", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                    return_periods_years: [2, 1000],
                  },
                },
                {
                  scenario: "rcp4p5",
                  analysis_year: 2040,
                  metrics: ["intensity", "wind_speed_mps", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                    return_periods_years: [2, 1000],
                  },
                },
                {
                  scenario: "rcp4p5",
                  analysis_year: 2050,
                  metrics: ["intensity", "wind_speed_mps", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                    return_periods_years: [2, 1000],
                  },
                },
                {
                  scenario: "rcp4p5",
                  analysis_year: 2080,
                  metrics: ["intensity", "wind_speed_mps", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                    return_periods_years: [2, 1000],
                  },
                },
                {
                  scenario: "rcp6p0",
                  analysis_year: 2025,
                  metrics: ["intensity", "wind_speed_mps", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                    return_periods_years: [2, 1000],
                  },
                },
                {
                  scenario: "rcp6p0",
                  analysis_year: 2030,
                  metrics: ["intensity", "wind_speed_mps", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                    return_periods_years: [2, 1000],
                  },
                },
                {
                  scenario: "rcp6p0",
                  analysis_year: 2040,
                  metrics: ["intensity", "wind_speed_mps", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                    return_periods_years: [2, 1000],
                  },
                },
                {
                  scenario: "rcp6p0",
                  analysis_year: 2050,
                  metrics: ["intensity", "wind_speed_mps", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                    return_periods_years: [2, 1000],
                  },
                },
                {
                  scenario: "rcp6p0",
                  analysis_year: 2080,
                  metrics: ["intensity", "wind_speed_mps", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                    return_periods_years: [2, 1000],
                  },
                },
                {
                  scenario: "rcp8p5",
                  analysis_year: 2025,
                  metrics: ["intensity", "wind_speed_mps", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                    return_periods_years: [2, 1000],
                  },
                },
                {
                  scenario: "rcp8p5",
                  analysis_year: 2030,
                  metrics: ["intensity", "wind_speed_mps", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                    return_periods_years: [2, 1000],
                  },
                },
                {
                  scenario: "rcp8p5",
                  analysis_year: 2040,
                  metrics: ["intensity", "wind_speed_mps", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                    return_periods_years: [2, 1000],
                  },
                },
                {
                  scenario: "rcp8p5",
                  analysis_year: 2050,
                  metrics: ["intensity", "wind_speed_mps", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                    return_periods_years: [2, 1000],
                  },
                },
                {
                  scenario: "rcp8p5",
                  analysis_year: 2080,
                  metrics: ["intensity", "wind_speed_mps", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                    return_periods_years: [2, 1000],
                  },
                },
              ],
            },
            {
              hazard: "wildfire",
              analysis_years: [1980, 2025, 2030, 2040, 2050, 2080],
              scenarios: ["baseline", "rcp2p6", "rcp4p5", "rcp6p0", "rcp8p5"],
              metrics: [
                {
                  metric: "intensity",
                  unit: "1",
                  meaning: "min(1, mean of the yearly largest Fire Weather Index / 100)",
                },
                {
                  metric: "fire_danger_days",
                  unit: "days",
                  meaning: "mean number of days a year with a Fire Weather Index above 30",
                },
                {
                  metric: "probability",
                  unit: "1",
                  meaning: "annual probability that the year's largest Fire Weather Index reaches 38",
                },
                {
                  metric: "total_hazard",
                  unit: "1",
                  meaning: "intensity x probability of the cell: severity times likelihood",
                },
              ],
              resolution_deg: 0.1,
              grid: {
                north_deg: 90,
                west_deg: -180,
                cell_size_lat_deg: 0.1,
                cell_size_lon_deg: 0.1,
                row_count: 1800,
                column_count: 3600,
              },
              coverage: { north: 90, south: -90, west: -180, east: 180 },
              rules: { threshold: 38, threshold_unit: "FWI", intensity_reference: 100, danger_threshold: 30 },
              layers: [
                {
                  scenario: "baseline",
                  analysis_year: 1980,
                  metrics: ["intensity", "fire_danger_days", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                  },
                },
                {
                  scenario: "rcp2p6",
                  analysis_year: 2025,
                  metrics: ["intensity", "fire_danger_days", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                  },
                },
                {
                  scenario: "rcp2p6",
                  analysis_year: 2030,
                  metrics: ["intensity", "fire_danger_days", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                  },
                },
                {
                  scenario: "rcp2p6",
                  analysis_year: 2040,
                  metrics: ["intensity", "fire_danger_days", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                  },
                },
                {
                  scenario: "rcp2p6",
                  analysis_year: 2050,
                  metrics: ["intensity", "fire_danger_days", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                  },
                },
                {
                  scenario: "rcp2p6",
                  analysis_year: 2080,
                  metrics: ["intensity", "fire_danger_days", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                  },
                },
                {
                  scenario: "rcp4p5",
                  analysis_year: 2025,
                  metrics: ["intensity", "fire_danger_days", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                  },
                },
                {
                  scenario: "rcp4p5",
                  analysis_year: 2030,
                  metrics: ["intensity", "fire_danger_days", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                  },
                },
                {
                  scenario: "rcp4p5",
                  analysis_year: 2040,
                  metrics: ["intensity", "fire_danger_days", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                  },
                },
                {
                  scenario: "rcp4p5",
                  analysis_year: 2050,
                  metrics: ["intensity", "fire_danger_days", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                  },
                },
                {
                  scenario: "rcp4p5",
                  analysis_year: 2080,
                  metrics: ["intensity", "fire_danger_days", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                  },
                },
                {
                  scenario: "rcp6p0",
                  analysis_year: 2025,
                  metrics: ["intensity", "fire_danger_days", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                  },
                },
                {
                  scenario: "rcp6p0",
                  analysis_year: 2030,
                  metrics: ["intensity", "fire_danger_days", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                  },
                },
                {
                  scenario: "rcp6p0",
                  analysis_year: 2040,
                  metrics: ["intensity", "fire_danger_days", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                  },
                },
                {
                  scenario: "rcp6p0",
                  analysis_year: 2050,
                  metrics: ["intensity", "fire_danger_days", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                  },
                },
                {
                  scenario: "rcp6p0",
                  analysis_year: 2080,
                  metrics: ["intensity", "fire_danger_days", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                  },
                },
                {
                  scenario: "rcp8p5",
                  analysis_year: 2025,
                  metrics: ["intensity", "fire_danger_days", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                  },
                },
                {
                  scenario: "rcp8p5",
                  analysis_year: 2030,
                  metrics: ["intensity", "fire_danger_days", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                  },
                },
                {
                  scenario: "rcp8p5",
                  analysis_year: 2040,
                  metrics: ["intensity", "fire_danger_days", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                  },
                },
                {
                  scenario: "rcp8p5",
                  analysis_year: 2050,
                  metrics: ["intensity", "fire_danger_days", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                  },
                },
                {
                  scenario: "rcp8p5",
                  analysis_year: 2080,
                  metrics: ["intensity", "fire_danger_days", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                  },
                },
              ],
            },
            {
              hazard: "coastal_floods",
              analysis_years: [1980, 2030, 2050, 2080],
              scenarios: ["baseline", "rcp4p5", "rcp8p5"],
              metrics: [
                { metric: "intensity", unit: "1", meaning: "min(1, depth_meters / 10 m)" },
                {
                  metric: "depth_meters",
                  unit: "m",
                  meaning: "flood depth above ground with a return period of 100 years, without protection",
                },
                { metric: "probability", unit: "1", meaning: "annual probability of a depth of at least 0.5 m" },
                {
                  metric: "total_hazard",
                  unit: "1",
                  meaning: "intensity x probability of the cell: severity times likelihood",
                },
              ],
              resolution_deg: 0.0089,
              grid: {
                north_deg: 90,
                west_deg: -180,
                cell_size_lat_deg: 0.008900316455696203,
                cell_size_lon_deg: 0.008900316455696203,
                row_count: 20224,
                column_count: 40448,
              },
              coverage: { north: 90, south: -90, west: -180, east: 180 },
              rules: {
                design_return_period_years: 100,
                threshold: 0.5,
                threshold_unit: "m",
                intensity_reference: 10,
                curve: "gumbel",
              },
              layers: [
                {
                  scenario: "baseline",
                  analysis_year: 1980,
                  metrics: ["intensity", "depth_meters", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                    return_periods_years: [2, 1000],
                  },
                },
                {
                  scenario: "rcp4p5",
                  analysis_year: 2030,
                  metrics: ["intensity", "depth_meters", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                    return_periods_years: [2, 1000],
                  },
                },
                {
                  scenario: "rcp4p5",
                  analysis_year: 2050,
                  metrics: ["intensity", "depth_meters", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                    return_periods_years: [2, 1000],
                  },
                },
                {
                  scenario: "rcp4p5",
                  analysis_year: 2080,
                  metrics: ["intensity", "depth_meters", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                    return_periods_years: [2, 1000],
                  },
                },
                {
                  scenario: "rcp8p5",
                  analysis_year: 2030,
                  metrics: ["intensity", "depth_meters", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                    return_periods_years: [2, 1000],
                  },
                },
                {
                  scenario: "rcp8p5",
                  analysis_year: 2050,
                  metrics: ["intensity", "depth_meters", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                    return_periods_years: [2, 1000],
                  },
                },
                {
                  scenario: "rcp8p5",
                  analysis_year: 2080,
                  metrics: ["intensity", "depth_meters", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                    return_periods_years: [2, 1000],
                  },
                },
              ],
            },
            {
              hazard: "riverine_floods",
              analysis_years: [1980, 2030, 2050, 2080],
              scenarios: ["baseline", "rcp4p5", "rcp8p5"],
              metrics: [
                { metric: "intensity", unit: "1", meaning: "min(1, depth_meters / 10 m)" },
                {
                  metric: "depth_meters",
                  unit: "m",
                  meaning: "flood depth above ground with a return period of 100 years, without protection",
                },
                { metric: "probability", unit: "1", meaning: "annual probability of a depth of at least 0.5 m" },
                {
                  metric: "total_hazard",
                  unit: "1",
                  meaning: "intensity x probability of the cell: severity times likelihood",
                },
              ],
              resolution_deg: 0.0089,
              grid: {
                north_deg: 90,
                west_deg: -180,
                cell_size_lat_deg: 0.008900316455696203,
                cell_size_lon_deg: 0.008900316455696203,
                row_count: 20224,
                column_count: 40448,
              },
              coverage: { north: 90, south: -90, west: -180, east: 180 },
              rules: {
                design_return_period_years: 100,
                threshold: 0.5,
                threshold_unit: "m",
                intensity_reference: 10,
                curve: "gumbel",
              },
              layers: [
                {
                  scenario: "baseline",
                  analysis_year: 1980,
                  metrics: ["intensity", "depth_meters", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                    return_periods_years: [2, 1000],
                  },
                },
                {
                  scenario: "rcp4p5",
                  analysis_year: 2030,
                  metrics: ["intensity", "depth_meters", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                    return_periods_years: [2, 1000],
                  },
                },
                {
                  scenario: "rcp4p5",
                  analysis_year: 2050,
                  metrics: ["intensity", "depth_meters", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                    return_periods_years: [2, 1000],
                  },
                },
                {
                  scenario: "rcp4p5",
                  analysis_year: 2080,
                  metrics: ["intensity", "depth_meters", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                    return_periods_years: [2, 1000],
                  },
                },
                {
                  scenario: "rcp8p5",
                  analysis_year: 2030,
                  metrics: ["intensity", "depth_meters", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                    return_periods_years: [2, 1000],
                  },
                },
                {
                  scenario: "rcp8p5",
                  analysis_year: 2050,
                  metrics: ["intensity", "depth_meters", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                    return_periods_years: [2, 1000],
                  },
                },
                {
                  scenario: "rcp8p5",
                  analysis_year: 2080,
                  metrics: ["intensity", "depth_meters", "probability", "total_hazard"],
                  source: {
                    synthetic: true,
                    description:
                      "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. Not fit for any decision about any place.",
                    coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
                    return_periods_years: [2, 1000],
                  },
                },
              ],
            },
          ],
        },
      },
    },
    alignTemperature: {
      "200": {
        value: {
          results: [
            {
              entity_info: {
                name: "Example Steel AG",
                asset_type: "equity",
                country: "Germany",
                industry_classification_system: "gics",
                industry: "Steel",
                sector: "Materials",
              },
              data: [
                { year: 2030, temperature_alignment: 1.85 },
                { year: 2050, temperature_alignment: 1.69 },
              ],
            },
          ],
        },
      },
    },
    analyzeTotalClimateRisk: {
      "200": {
        summary: "The first 2 of 8 data_quality",
        value: {
          company: {
            name: "Example Cement Ltd",
            country: { iso3: "IND", name: "India", tier: "A" },
            industry: { id: "cement_lime", name: "Cement and lime", matched_on: "id" },
          },
          units: { money: "USD 2025 real per year", emissions: "t CO2e per year" },
          emissions: {
            scope1: {
              value: 72950407.96471012,
              low: 36475203.98235506,
              high: 145900815.92942023,
              method: "modelled",
              pcaf_score: 5,
            },
            scope2: {
              value: 6565089.943097182,
              low: 3282544.971548591,
              high: 13130179.886194363,
              method: "modelled",
              pcaf_score: 5,
            },
            scope3_upstream: {
              value: 4479015.1721414095,
              low: 1493005.0573804697,
              high: 13437045.516424228,
              method: "modelled",
              pcaf_score: 5,
            },
            scope3_downstream: { value: 0, low: 0, high: 0, method: "modelled", pcaf_score: 5 },
            financed: null,
          },
          results: [
            {
              scenario: "NGFS_NET_ZERO_2050",
              family: "NGFS",
              vintage: "5",
              year: 2030,
              drivers: {
                price: 179.377,
                baseline_price: 7.238,
                price_shock: 172.139,
                fuel_price_shock: 172.139,
                price_model: "REMIND-MAgPIE 3.3-4.8",
                gsat: 1.501,
                local_temperature: 26.74665247,
                local_temperature_2020: 26.43676669,
                emissions_cut: 0.43,
                abatement_share: 0.43,
                unit_cost: 130.36923000000002,
                pass_through: 0.5,
              },
              transition: {
                gross_cost: 10492171690.206806,
                volume_change: -0.26663714587564946,
                own_volume_change: -0.26663714587564946,
                fuel_volume_change: 0,
                volume_floor: false,
                loss: 1380000000,
                uncapped: 4215243749.6547837,
                capped: true,
                credit_loss: 0,
                score: 80,
              },
              physical: {
                chronic: {
                  damage_fraction: 0.011843156147035204,
                  loss: 19612266.579490297,
                  loss_upper_bound: 46304561.39417659,
                },
                acute: {
                  by_hazard: { flood: 0.003424101972, wind: 0.00012909180272, surge: 0.000005520782148 },
                  aal_fraction: 0.003558714556868,
                  asset_loss: 24341607.56897712,
                  interruption: 4911026.088477841,
                },
                score: 12.4065130473796,
                percentile: { acute: 74.72222222222223, chronic: 91.38888888888889 },
              },
              interaction: -24523292.667968135,
              total: {
                loss: 1404341607.568977,
                pct_of_ebitda: 101.7638846064476,
                pct_of_assets: 12.318786031306816,
                score: 80.27829450192755,
                rating: "E",
                low: 101.7638846064476,
                high: 101.7638846064476,
                measured_by: "ebitda",
                note: "loss of the whole EBITDA",
              },
              credit: {
                debt_to_ebitda: { before: 0.8913043478260869, after: null },
                interest_coverage: { before: 22.4390243902439, after: -0.3957984970565385 },
              },
            },
          ],
          valuation: [
            {
              scenario: "NGFS_NET_ZERO_2050",
              npv_of_losses: 11248496981.139307,
              npv_uncapped: 11248496981.139307,
              value_at_risk_pct: 101.81115588047153,
              asset_value_after: 0,
              pd_5y_before: 0.0002480676785314269,
              pd_5y_after: 1,
            },
          ],
          headline: {
            max: {
              score: 80.27829450192755,
              pct_of_ebitda: 101.7638846064476,
              scenario: "NGFS_NET_ZERO_2050",
              year: 2030,
            },
            mean: { score: 80.27829450192755, pct_of_ebitda: 101.7638846064476 },
          },
          data_quality: [
            {
              output: "emissions.scope1",
              mark: "D",
              detail:
                "by revenue; a factor of 2 either way. Factor: US EPA Supply Chain GHG Emission Factors v1.3, split into scopes by USEEIO v2.0.1",
            },
            {
              output: "emissions.scope2",
              mark: "J",
              detail: "by revenue, grid and price level; a factor of 2 either way",
            },
          ],
          warnings: [],
          assumptions: [
            "All money, including inputs, is in real US dollars of 2025; no currency is converted.",
            "Revenue, EBITDA and balance sheet stay constant (static balance sheet).",
            "One country and one industry represent the whole company.",
            "Losses only: no gains from low-carbon products or competitors' larger losses, and no adaptation or insurance.",
            "Physical risk is a national average, not site-specific; hail, thunderstorms, wildfire, drought and sea-level rise are not covered.",
            "Neither the NGFS nor the IPCC assigns probabilities to scenarios; the mean over scenarios is not an expected value.",
          ],
          sources: [
            {
              what: "emission factors of industries",
              source: "US EPA Supply Chain GHG Emission Factors v1.3; USEEIO v2.0.1; OECD ICIO 2025",
              terms: "US public domain; CC BY 4.0 (OECD)",
            },
            {
              what: "carbon intensity of economies and of electricity",
              source: "EDGAR 2024 (European Union, JRC); World Bank GDP; Ember by way of Our World in Data",
              terms: "CC BY 4.0",
            },
            {
              what: "baseline temperature and local warming",
              source: "Burke, Hsiang and Miguel 2015; patterns of 21 CMIP6 models",
              terms: "published research; CMIP6 terms of use",
            },
            {
              what: "average yearly losses to river floods, wind and storm surge",
              source: "GIRI, CDRI 2023; FLOPROS (Scussolini et al. 2016)",
              terms: "CC BY 3.0 IGO; CC BY 3.0",
            },
            {
              what: "carbon prices and global warming of the NGFS scenarios; Current Policies as the baseline of all prices",
              source: "NGFS Climate Scenarios Phase V (November 2024), IIASA NGFS Scenario Explorer",
              terms: "research and commercial use; no redistribution of substantial parts",
            },
            {
              what: "carbon prices, global warming and emission reductions by category",
              source: "IPCC AR6: WGI table SPM.1, WGIII chapter 3 and table SPM.2, SYR table SPM.1",
              terms: "quoted with attribution",
            },
            {
              what: "damage function kalkuhl_wenz",
              source: "Kalkuhl and Wenz 2020, Journal of Environmental Economics and Management",
              terms: "published research",
            },
          ],
          method_version: "isotherm-company/1",
        },
      },
    },
    listIndustries: {
      "200": {
        summary: "The first 2 of 147 items",
        value: {
          items: [
            {
              id: "iron_steel",
              name: "Iron and steel",
              aliases: ["Steel"],
              sector: "Metals and mining",
              isic: ["2410", "2431"],
              nace: ["24.1", "24.2", "24.3", "24.51", "24.52"],
              naics: ["3311", "3312", "33151"],
              factor_source:
                "scope 1: geometric mean of EPA v1.3 and OECD ICIO 2025 (C24A) as for the US; scopes 2 and 3: EPA v1.3",
            },
            {
              id: "aluminium",
              name: "Aluminium",
              aliases: ["Aluminum"],
              sector: "Metals and mining",
              isic: ["2420"],
              nace: ["24.42"],
              naics: ["3313"],
              factor_source:
                "judgement: USEEIO's mix of the industry and primary metal (4.8 t direct, 10.4 t of electricity per t)",
            },
          ],
        },
      },
    },
    listCountries: {
      "200": {
        summary: "The first 2 of 248 items",
        value: {
          items: [
            {
              id: "AFG",
              name: "Afghanistan",
              aliases: ["the Islamic Republic of Afghanistan"],
              iso2: "AF",
              tier: "A",
              fallbacks: [],
            },
            {
              id: "ALA",
              name: "Åland Islands",
              aliases: [],
              iso2: "AX",
              tier: "B",
              fallbacks: [
                "ei_t_per_musd_nominal_2022: subregion median (emissions per GDP)",
                "price_level_rel_us: subregion median (price level)",
                "grid_gco2_kwh: subregion median (carbon intensity of electricity)",
                "aal_flood: subregion median (loss to river floods)",
              ],
            },
          ],
        },
      },
    },
    listScenarios: {
      "200": {
        summary: "The first 2 of 21 items",
        value: {
          items: [
            {
              id: "NGFS_NET_ZERO_2050",
              name: "NGFS NET ZERO 2050",
              aliases: [],
              family: "NGFS",
              vintage: "5",
              narrative: "Orderly",
              category: "C2 (peaks about 1.7, below 1.5 by 2100)",
              ssp: null,
              iams: ["remind", "messageix", "gcam"],
              world_price: false,
              price_substitute: null,
            },
            {
              id: "NGFS_BELOW_2C",
              name: "NGFS BELOW 2C",
              aliases: [],
              family: "NGFS",
              vintage: "5",
              narrative: "Orderly",
              category: "C3",
              ssp: null,
              iams: ["remind", "messageix", "gcam"],
              world_price: false,
              price_substitute: null,
            },
          ],
        },
      },
    },
    registerCustomer: {
      "200": {
        value: {
          customer_id: "0190f000-0000-7000-8000-000000000001",
          internal_id: "team-lisbon",
          name: "Lisbon team",
          created_at: "2026-01-15T09:30:00.000Z",
          archived_at: null,
        },
      },
      "201": {
        value: {
          customer_id: "0190f000-0000-7000-8000-000000000001",
          internal_id: "team-lisbon",
          name: "Lisbon team",
          created_at: "2026-01-15T09:30:00.000Z",
          archived_at: null,
        },
      },
    },
    listCustomers: {
      "200": {
        value: {
          items: [
            {
              customer_id: "0190f000-0000-7000-8000-000000000001",
              internal_id: "test-customer",
              name: null,
              created_at: "2026-01-15T09:30:00.000Z",
              archived_at: null,
            },
            {
              customer_id: "0190f000-0000-7000-8000-000000000001",
              internal_id: "team-lisbon",
              name: "Lisbon team",
              created_at: "2026-01-15T09:30:00.000Z",
              archived_at: null,
            },
          ],
        },
      },
    },
    getCustomer: {
      "200": {
        value: {
          customer_id: "0190f000-0000-7000-8000-000000000001",
          internal_id: "test-customer",
          name: null,
          created_at: "2026-01-15T09:30:00.000Z",
          archived_at: null,
        },
      },
    },
    getUsage: {
      "200": {
        value: {
          items: [
            {
              customer_id: "0190f000-0000-7000-8000-000000000001",
              internal_id: "test-customer",
              meter: "hazard_values",
              requests: 2,
              units: 6,
            },
            {
              customer_id: "0190f000-0000-7000-8000-000000000001",
              internal_id: "test-customer",
              meter: "alignment_values",
              requests: 1,
              units: 2,
            },
            {
              customer_id: "0190f000-0000-7000-8000-000000000001",
              internal_id: "test-customer",
              meter: "company_results",
              requests: 1,
              units: 1,
            },
          ],
        },
      },
    },
    getCustomerUsage: {
      "200": {
        value: {
          items: [
            { meter: "hazard_values", period: "2026-01-15", requests: 2, units: 6 },
            { meter: "alignment_values", period: "2026-01-15", requests: 1, units: 2 },
            { meter: "company_results", period: "2026-01-15", requests: 1, units: 1 },
          ],
        },
      },
    },
    getLimits: {
      "200": {
        value: {
          head_bytes: 16384,
          body_bytes: 8388608,
          json_depth: 16,
          batch_elements: 10000,
          hazard_values: 100000,
          entities: 5000,
          alignment_values: 100000,
          detail_values: 10000,
          radius_km: 100,
          requests_per_second: 50,
          request_burst: 100,
        },
      },
    },
    getService: {
      "200": {
        value: {
          service: "isotherm",
          documentation: "/docs",
          openapi: "/openapi.json",
          health: "/healthz",
          readiness: "/readyz",
          atlas: { release: "demo-synthetic-1-433fa186", synthetic: true },
        },
      },
    },
    getProblem: {
      "200": {
        value: {
          code: "rate_limited",
          title: "Too many requests",
          status: 429,
          retryable: true,
          meaning: "The account sends requests faster than is allowed, or the address has sent too many invalid keys.",
          remedy:
            "Wait for the number of seconds in `Retry-After`. The `RateLimit` header fields say how many requests are left.",
        },
      },
    },
    getHealth: { "200": { value: { status: "ok" } } },
    getReadiness: { "200": { value: { status: "ready" } } },
    archiveCustomer: {
      "200": {
        value: {
          customer_id: "0190f000-0000-7000-8000-000000000001",
          internal_id: "test-customer",
          name: null,
          created_at: "2026-01-15T09:30:00.000Z",
          archived_at: "2026-01-15T09:30:00.000Z",
        },
      },
    },
  },
  problems: {
    invalid_request_400: {
      type: "/problems/invalid_request",
      title: "The request is not valid",
      status: 400,
      code: "invalid_request",
      detail:
        '4 things are wrong with the query. The first: There is no parameter "hazard"; known are latitude, longitude, hazards, analysis_years, scenarios, radius, aggregation_method, total_hazard, anthropogenic, detail; did you mean hazards?',
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: false,
      errors: [
        {
          parameter: "hazard",
          code: "unknown",
          detail:
            'There is no parameter "hazard"; known are latitude, longitude, hazards, analysis_years, scenarios, radius, aggregation_method, total_hazard, anthropogenic, detail; did you mean hazards?',
          allowed: [
            "latitude",
            "longitude",
            "hazards",
            "analysis_years",
            "scenarios",
            "radius",
            "aggregation_method",
            "total_hazard",
            "anthropogenic",
            "detail",
          ],
          did_you_mean: "hazards",
        },
        { parameter: "latitude", code: "out_of_range", detail: "latitude must be a number from -90 to 90, not 91." },
        {
          parameter: "hazards",
          code: "missing",
          detail:
            "hazards is missing; give a list, each item one of cyclones, wildfire, coastal_floods, riverine_floods.",
        },
        {
          parameter: "scenarios",
          code: "not_allowed",
          detail: 'scenarios: "rcp85" is not one of baseline, rcp2p6, rcp4p5, rcp6p0, rcp8p5; did you mean rcp8p5?',
          allowed: ["baseline", "rcp2p6", "rcp4p5", "rcp6p0", "rcp8p5"],
          did_you_mean: "rcp8p5",
        },
      ],
    },
    combination_unavailable_422: {
      type: "/problems/combination_unavailable",
      title: "There is no data for this combination",
      status: 422,
      code: "combination_unavailable",
      detail:
        "riverine_floods has no analysis year 2040; it offers the years 1980, 2030, 2050, 2080 and the scenarios baseline, rcp4p5, rcp8p5.",
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: false,
      errors: [
        {
          parameter: "analysis_years",
          code: "combination_unavailable",
          detail:
            "riverine_floods has no analysis year 2040; it offers the years 1980, 2030, 2050, 2080 and the scenarios baseline, rcp4p5, rcp8p5.",
          allowed: [1980, 2030, 2050, 2080],
          hazard: "riverine_floods",
          offered_years: [1980, 2030, 2050, 2080],
          offered_scenarios: ["baseline", "rcp4p5", "rcp8p5"],
        },
      ],
    },
    asset_type_unsupported_422: {
      type: "/problems/asset_type_unsupported",
      title: "The alignment of this type of asset is not known",
      status: 422,
      code: "asset_type_unsupported",
      detail: 'asset_type: "bond" is not one of equity.',
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: false,
      errors: [
        {
          pointer: "/0/entity_info/asset_type",
          code: "asset_type_unsupported",
          detail: 'asset_type: "bond" is not one of equity.',
          allowed: ["equity"],
        },
      ],
    },
    country_unknown_422: {
      type: "/problems/country_unknown",
      title: "The country is not known",
      status: 422,
      code: "country_unknown",
      detail: 'country: "Germani" is not a known country; the nearest are Germany; Niger; Nigeria; Romania; Georgia.',
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: false,
      errors: [
        {
          pointer: "/country",
          code: "country_unknown",
          detail:
            'country: "Germani" is not a known country; the nearest are Germany; Niger; Nigeria; Romania; Georgia.',
          nearest: ["Germany", "Niger", "Nigeria", "Romania", "Georgia"],
        },
      ],
    },
    industry_unknown_422: {
      type: "/problems/industry_unknown",
      title: "The industry is not known",
      status: 422,
      code: "industry_unknown",
      detail:
        'industry: "Cemnt" is not a known industry; the nearest are Cement and lime; Home improvement retail; Contract drilling; Office equipment and supplies; Coal mining.',
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: false,
      errors: [
        {
          pointer: "/industry",
          code: "industry_unknown",
          detail:
            'industry: "Cemnt" is not a known industry; the nearest are Cement and lime; Home improvement retail; Contract drilling; Office equipment and supplies; Coal mining.',
          nearest: [
            "Cement and lime",
            "Home improvement retail",
            "Contract drilling",
            "Office equipment and supplies",
            "Coal mining",
          ],
        },
      ],
    },
    scenario_unknown_422: {
      type: "/problems/scenario_unknown",
      title: "The scenario is not known",
      status: 422,
      code: "scenario_unknown",
      detail:
        'transition_scenarios: "NGFS_NET_ZERO" is not a known scenario; the nearest are NGFS_NET_ZERO_2050; IPCC_NET_ZERO; NGFS_NDC; NGFS_BELOW_2C; NGFS_LOW_DEMAND.',
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: false,
      errors: [
        {
          pointer: "/transition_scenarios/0",
          code: "scenario_unknown",
          detail:
            'transition_scenarios: "NGFS_NET_ZERO" is not a known scenario; the nearest are NGFS_NET_ZERO_2050; IPCC_NET_ZERO; NGFS_NDC; NGFS_BELOW_2C; NGFS_LOW_DEMAND.',
          nearest: ["NGFS_NET_ZERO_2050", "IPCC_NET_ZERO", "NGFS_NDC", "NGFS_BELOW_2C", "NGFS_LOW_DEMAND"],
          allowed: [
            "NGFS_NET_ZERO_2050",
            "NGFS_BELOW_2C",
            "NGFS_LOW_DEMAND",
            "NGFS_DELAYED_TRANSITION",
            "NGFS_NDC",
            "NGFS_FRAGMENTED_WORLD",
            "NGFS_CURRENT_POLICIES",
            "IPCC_C1",
            "IPCC_C2",
            "IPCC_C3",
            "IPCC_C4",
            "IPCC_C5",
            "IPCC_C6",
            "IPCC_C7",
            "IPCC_C8",
            "IPCC_SSP1_19",
            "IPCC_SSP1_26",
            "IPCC_SSP2_45",
            "IPCC_SSP3_70",
            "IPCC_SSP5_85",
            "IPCC_NET_ZERO",
          ],
        },
      ],
    },
    too_many_values_400: {
      type: "/problems/too_many_values",
      title: "The request asks for too much at once",
      status: 400,
      code: "too_many_values",
      detail: "The request asks for 10001 locations; 10000 are allowed. Ask in several requests.",
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: false,
      requested: 10001,
      limit: 10000,
    },
    json_malformed_400: {
      type: "/problems/json_malformed",
      title: "The body is not JSON as RFC 8259 has it",
      status: 400,
      code: "json_malformed",
      detail: 'Line 2, column 20: there is "}" where a value is expected.',
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: false,
      line: 2,
      column: 20,
    },
    atlas_not_found_503: {
      type: "/problems/atlas_not_found",
      title: "The atlas cannot be read",
      status: 503,
      code: "atlas_not_found",
      detail: "Something went wrong on our side. Name the request id when you report it.",
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: true,
    },
    atlas_unavailable_503: {
      type: "/problems/atlas_unavailable",
      title: "The atlas cannot be read",
      status: 503,
      code: "atlas_unavailable",
      detail: "Something went wrong on our side. Name the request id when you report it.",
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: true,
    },
    source_invalid_500: {
      type: "/problems/source_invalid",
      title: "Internal error",
      status: 500,
      code: "source_invalid",
      detail: "Something went wrong on our side. Name the request id when you report it.",
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: false,
    },
    account_not_found_500: {
      type: "/problems/account_not_found",
      title: "Internal error",
      status: 500,
      code: "account_not_found",
      detail: "Something went wrong on our side. Name the request id when you report it.",
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: false,
    },
    key_not_found_500: {
      type: "/problems/key_not_found",
      title: "Internal error",
      status: 500,
      code: "key_not_found",
      detail: "Something went wrong on our side. Name the request id when you report it.",
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: false,
    },
    ledger_unavailable_503: {
      type: "/problems/ledger_unavailable",
      title: "Keys cannot be looked up",
      status: 503,
      code: "ledger_unavailable",
      detail: "Something went wrong on our side. Name the request id when you report it.",
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: true,
    },
    configuration_invalid_500: {
      type: "/problems/configuration_invalid",
      title: "Internal error",
      status: 500,
      code: "configuration_invalid",
      detail: "Something went wrong on our side. Name the request id when you report it.",
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: false,
    },
    internal_error_500: {
      type: "/problems/internal_error",
      title: "Internal error",
      status: 500,
      code: "internal_error",
      detail: "Something went wrong on our side. Name the request id when you report it.",
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: false,
    },
    api_key_missing_401: {
      type: "/problems/api_key_missing",
      title: "There is no API key",
      status: 401,
      code: "api_key_missing",
      detail: "Send the account's API key in the header X-API-Key.",
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: false,
      errors: [{ header: "X-API-Key", code: "missing", detail: "Send the account's API key in the header X-API-Key." }],
    },
    api_key_invalid_401: {
      type: "/problems/api_key_invalid",
      title: "The API key is not known",
      status: 401,
      code: "api_key_invalid",
      detail:
        "This API key is not known here, and it seems mistyped: its last 6 characters do not match the rest. Compare it with the key that was issued.",
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: false,
    },
    api_key_revoked_401: {
      type: "/problems/api_key_revoked",
      title: "The API key has been revoked",
      status: 401,
      code: "api_key_revoked",
      detail: "This API key has been revoked.",
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: false,
    },
    account_suspended_401: {
      type: "/problems/account_suspended",
      title: "The account is suspended",
      status: 401,
      code: "account_suspended",
      detail: "The account of this API key is suspended; contact the operator of the service.",
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: false,
    },
    customer_not_found_404: {
      type: "/problems/customer_not_found",
      title: "There is no such customer",
      status: 404,
      code: "customer_not_found",
      detail: "This account has no customer with this id.",
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: false,
    },
    customer_id_missing_400: {
      type: "/problems/customer_id_missing",
      title: "The request does not say for which customer it is",
      status: 400,
      code: "customer_id_missing",
      detail: "Say in the header X-Customer-ID for which customer this is: the UUID that registering it gave.",
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: false,
      errors: [
        {
          header: "X-Customer-ID",
          code: "missing",
          detail: "Say in the header X-Customer-ID for which customer this is: the UUID that registering it gave.",
        },
      ],
    },
    customer_id_malformed_400: {
      type: "/problems/customer_id_malformed",
      title: "The customer id is no UUID",
      status: 400,
      code: "customer_id_malformed",
      detail: "X-Customer-ID must be one UUID, as registering the customer gave it.",
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: false,
      errors: [
        {
          header: "X-Customer-ID",
          code: "malformed",
          detail: "X-Customer-ID must be one UUID, as registering the customer gave it.",
        },
      ],
    },
    customer_not_accessible_403: {
      type: "/problems/customer_not_accessible",
      title: "The account has no such customer",
      status: 403,
      code: "customer_not_accessible",
      detail: "The account has no customer with this id.",
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: false,
      errors: [{ header: "X-Customer-ID", code: "unknown", detail: "The account has no customer with this id." }],
    },
    customer_archived_403: {
      type: "/problems/customer_archived",
      title: "The customer is archived",
      status: 403,
      code: "customer_archived",
      detail: "The customer is archived: its history stays, and nothing more is counted for it.",
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: false,
      errors: [
        {
          header: "X-Customer-ID",
          code: "not_allowed",
          detail: "The customer is archived: its history stays, and nothing more is counted for it.",
        },
      ],
    },
    customer_archived_409: {
      type: "/problems/customer_archived",
      title: "The customer is archived",
      status: 409,
      code: "customer_archived",
      detail: "The customer was archived.",
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: false,
    },
    idempotency_key_reused_422: {
      type: "/problems/idempotency_key_reused",
      title: "The idempotency key stands for another request",
      status: 422,
      code: "idempotency_key_reused",
      detail: "The key stands for another request.",
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: false,
    },
    rate_limited_429: {
      type: "/problems/rate_limited",
      title: "Too many requests",
      status: 429,
      code: "rate_limited",
      detail: "The account asks too often; ask again in 10 s.",
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: true,
    },
    usage_not_recorded_503: {
      type: "/problems/usage_not_recorded",
      title: "The usage could not be recorded",
      status: 503,
      code: "usage_not_recorded",
      detail: "The usage could not be written down.",
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: true,
    },
    route_not_found_404: {
      type: "/problems/route_not_found",
      title: "There is no such address",
      status: 404,
      code: "route_not_found",
      detail: "There is nothing at this address. Data is below /api/v1/.",
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: false,
    },
    method_not_allowed_405: {
      type: "/problems/method_not_allowed",
      title: "The address does not take this method",
      status: 405,
      code: "method_not_allowed",
      detail: "PUT is not answered here; allowed: GET, HEAD, OPTIONS.",
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: false,
    },
    http_malformed_400: {
      type: "/problems/http_malformed",
      title: "The request is not HTTP as RFC 9112 has it",
      status: 400,
      code: "http_malformed",
      detail: "What was sent cannot be read as HTTP/1.1.",
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: false,
    },
    headers_too_large_431: {
      type: "/problems/headers_too_large",
      title: "The request's address and headers are too large",
      status: 431,
      code: "headers_too_large",
      detail: "The address and headers of a request may be 16384 bytes long, all together.",
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: false,
    },
    request_timeout_408: {
      type: "/problems/request_timeout",
      title: "The request took too long to arrive",
      status: 408,
      code: "request_timeout",
      detail: "The request did not arrive in time; send it in one go.",
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: true,
    },
    content_type_unsupported_415: {
      type: "/problems/content_type_unsupported",
      title: "The body is not declared as JSON",
      status: 415,
      code: "content_type_unsupported",
      detail: "The body must be declared as application/json in UTF-8, not as text/csv.",
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: false,
    },
    body_too_large_413: {
      type: "/problems/body_too_large",
      title: "The body is too large",
      status: 413,
      code: "body_too_large",
      detail: "A body may be 8388608 bytes long. Ask in several requests.",
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: false,
    },
    overloaded_503: {
      type: "/problems/overloaded",
      title: "The service has too much to do, or is stopping",
      status: 503,
      code: "overloaded",
      detail: "The service has too many requests in work; ask again in a moment.",
      request_id: "0190f000-0000-7000-8000-000000000001",
      retryable: true,
    },
  },
};
