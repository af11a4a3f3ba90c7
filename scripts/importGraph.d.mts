/** Returns the TypeScript files below a folder of the repository, as paths from its root. */
export function filesBelow(folder: string): string[];
/** Returns a file's imports, relative specifiers as paths from the root; `typeOnly: false` omits type-only imports. */
export function importsOf(file: string, options?: { readonly typeOnly?: boolean }): string[];
/** Returns each module of a folder with the modules of the same folder that it imports. */
export function graphOf(folder: string): Map<string, string[]>;
/** Returns the groups of modules that import each other. */
export function cyclesOf(graph: ReadonlyMap<string, readonly string[]>): string[][];
/** Returns the cycles between the members of each folder, where a subfolder counts as one member. */
export function folderCyclesOf(graph: ReadonlyMap<string, readonly string[]>): string[][];
