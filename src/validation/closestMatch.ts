/** The suggestion for a name that is not known: of a member, an option, a column or an accepted value. */
import { editDistance } from "./editDistance.ts";

/** Longer names get no suggestion: they are unlikely to be typos, and the comparison is quadratic in the length. */
const SUGGESTION_LENGTH_MAX = 64;

/**
 * Returns the candidate that `given` is a misspelling or an abbreviation of; undefined unless exactly one is closest.
 * Ignores case and the difference between `-`, `.`, space and `_`. A misspelling differs in at most a third of the
 * characters, or in one; an abbreviation is a prefix of at least three characters.
 */
export function closestMatch(given: string, candidates: readonly string[]): string | undefined {
  if (given.length > SUGGESTION_LENGTH_MAX) return undefined;
  const normalizedName = normalizeName(given);
  const distanceMax = Math.max(1, Math.floor(normalizedName.length / 3));
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: editDistance(normalizedName, normalizeName(candidate), distanceMax) }))
    .filter(({ distance }) => distance <= distanceMax)
    .toSorted((first, second) => first.distance - second.distance);
  const [best, second] = ranked;
  if (best !== undefined) return best.distance === second?.distance ? undefined : best.candidate;
  const longer = candidates.filter(
    (candidate) => normalizedName.length >= 3 && normalizeName(candidate).startsWith(normalizedName),
  );
  return longer.length === 1 ? longer[0] : undefined;
}

function normalizeName(name: string): string {
  return name.trim().toLowerCase().replaceAll(/[-. ]/g, "_");
}
