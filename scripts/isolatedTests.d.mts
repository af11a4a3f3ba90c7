/** Returns the unit tests that need separate module instances, as paths from the root of the repository. */
export function isolatedTests(): string[];
