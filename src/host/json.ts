/**
 * JSON that keeps its numbers. `JSON.stringify` writes NaN and the infinities as `null`, which in our answers
 * means "no data": such a number is a bug of ours and must never leave as a statement about a place.
 *
 * @throws Error naming the place, when a number is not finite or a list holds `undefined`
 */
export function encodeJson(value: unknown): string {
  const text = JSON.stringify(value);
  // Whatever is lost is written as null, so that text without one needs no second look.
  if (text.includes("null")) {
    const lost = findLost(value, "");
    if (lost !== undefined) throw new Error(`Not a value of JSON at "${lost}" of an answer.`);
  }
  return text;
}

/** JSON pointer to the first value that JSON would replace by null. */
function findLost(value: unknown, pointer: string): string | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? undefined : pointer;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, member] of Object.entries(value)) {
    const at = `${pointer}/${key}`;
    if (member === undefined && Array.isArray(value)) return at;
    const lost = findLost(member, at);
    if (lost !== undefined) return lost;
  }
  return undefined;
}
