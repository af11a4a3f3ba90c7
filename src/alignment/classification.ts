import { flagBit } from "./answer.ts";
import type { Benchmark } from "./benchmark.ts";
import { ngfsRegionOf } from "./growthRegions.ts";
import { isKnownClassification, matchSector, type SectorMatch } from "./sectorPathways.ts";
import type { Entity } from "../contract/wireTypes.ts";

/** What the country, industry and sector names of an entity resolve to. */
export interface EntityClassification {
  readonly match: SectorMatch;
  /** Index into the benchmark's `growth`; 0 if the country is unknown or not listed. */
  readonly region: number;
  /** Bits of the flags that concern names. */
  readonly flags: number;
}

export function classifyEntity({ entity_info }: Entity, benchmark: Benchmark): EntityClassification {
  const { country, industry, sector, industry_classification_system } = entity_info;
  const match = matchSector({ industry, sector });
  const ngfsRegion = country === undefined ? undefined : ngfsRegionOf(country);
  const region = benchmark.growth.findIndex(({ regions }) => ngfsRegion !== undefined && regions.includes(ngfsRegion));
  return {
    match,
    region: Math.max(region, 0),
    flags:
      (match.on === null ? flagBit("unknown_industry") : 0) |
      (ngfsRegion === undefined ? flagBit("unknown_country") : 0) |
      (industry_classification_system === undefined || isKnownClassification(industry_classification_system)
        ? 0
        : flagBit("unknown_classification")),
  };
}
