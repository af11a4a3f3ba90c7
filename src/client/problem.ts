import type { Problem } from "../contract/wireTypes.ts";

/**
 * An error response, from the service or from a proxy in front of it. Network failures are reported as the errors that
 * `fetch` throws.
 */
export class IsothermError extends Error {
  override readonly name = "IsothermError";
  readonly status: number;
  /** The problem document. Absent if the response was something else, such as a proxy's error page. */
  readonly problem: Problem | undefined;
  /** Milliseconds after which the service asks to repeat the call; undefined if it did not say. */
  readonly retryAfterMs: number | undefined;
  constructor(
    message: string,
    {
      status,
      problem,
      retryAfterMs,
    }: { readonly status: number; readonly problem?: Problem; readonly retryAfterMs?: number | undefined },
  ) {
    super(message);
    this.status = status;
    this.problem = problem;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Returns whether a response body is a problem document. */
export function isProblem(body: unknown): body is Problem {
  return (
    typeof body === "object" &&
    body !== null &&
    "code" in body &&
    typeof body.code === "string" &&
    "detail" in body &&
    typeof body.detail === "string"
  );
}
