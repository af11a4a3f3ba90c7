export interface PackedFile {
  /** Relative to the package. */
  readonly path: string;
  readonly size: number;
}

export interface PackedTarball {
  readonly file: string;
  readonly sizeBytes: number;
  readonly files: readonly PackedFile[];
}

/** Returns the manifest of the published package: without the members that only a clone uses. */
export function publishedManifest(manifest: Readonly<Record<string, unknown>>): Record<string, unknown>;
/** Packs a copy of the built package, without running scripts, unless the same files have already been packed. */
export function packTarball(): PackedTarball;
