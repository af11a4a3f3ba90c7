import { HAZARDS } from "../../../src/hazard/hazards.ts";
import type { StatedRun } from "../../../src/places/summary/statedRun.ts";

/** A statement of a run, with characters that must be escaped in HTML. */
export const STATED_RUN: StatedRun = {
  inputFile: "sites <2026>.csv",
  inputSha256: "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9",
  options: { hazards: ["cyclones", "riverine_floods"], radius: 10 },
  outputFormat: "csv",
  release: "test-1",
  contentHash: "efeb16af",
  isSynthetic: true,
  programVersion: "0.1.0",
  rules: { cyclones: { ...HAZARDS.cyclones.rules }, riverine_floods: { ...HAZARDS.riverine_floods.rules } },
  sources: [
    { name: "Floods & winds", license: "CC BY 4.0", credit: "Example", hazards: ["cyclones", "riverine_floods"] },
  ],
  groups: new Set(["cyclones.rcp8p5.2050", "riverine_floods.rcp8p5.2050"]),
  columnNames: [],
  placeColumns: undefined,
  rowCount: 100,
  sizeBytes: 1000,
};
