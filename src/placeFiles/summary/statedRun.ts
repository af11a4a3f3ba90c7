import type { HazardName } from "../../hazard/hazards.ts";

/** What the manifest of an output states about the run that wrote it. */
export interface StatedRun {
  readonly inputFile: string;
  readonly inputSha256: string;
  /** As in a file of options. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly release: string;
  readonly contentHash: string;
  /** Whether the values are invented, as those of the demo. */
  readonly isSynthetic: boolean;
  readonly programVersion: string;
  /** Rules of the atlas by hazard. */
  readonly rules: Readonly<Partial<Record<HazardName, Readonly<Record<string, unknown>>>>>;
  /** Sources of the layers, each once. */
  readonly sources: readonly StatedSource[];
  /** Rows and size of the output. */
  readonly rowCount: number;
  readonly sizeBytes: number;
  /** Columns of the input that identify and locate the places, by their names in the output. */
  readonly columns: { readonly id?: string; readonly latitude?: string; readonly longitude?: string };
}

export interface StatedSource {
  readonly product: string;
  readonly license: string | undefined;
  readonly credit: string | undefined;
  readonly hazards: readonly HazardName[];
}
