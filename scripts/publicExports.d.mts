interface EntryPoint {
  /** Kind and name of each export, sorted by name. */
  readonly exports: readonly string[];
  /** Types that declarations of the exports mention, directly or through other types, but that are not exported. */
  readonly hidden: readonly { readonly name: string; readonly mentionedBy: string }[];
}

/** Path of the committed list. */
export const SNAPSHOT: string;
/** Emits the declarations of the package and examines each entry point, by specifier such as `isotherm/client`. */
export function publicExports(): ReadonlyMap<string, EntryPoint>;
/** Returns the list of exports and the published types of requests and responses as text. */
export function exportsText(entries: ReadonlyMap<string, EntryPoint>): string;
