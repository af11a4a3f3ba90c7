/** Returns the unit tests that need modules of their own, as paths from the root of the repository. */
export function isolatedTests(): string[];
