/** A problem document (RFC 9457). Branch on `code`. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  /** Include it when you contact the operator. */
  readonly request_id: string;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** All faults that the caller can correct. */
  readonly errors?: readonly ProblemItem[];
  /** With `too_many_values`. */
  readonly requested?: number;
  readonly limit?: number;
  /** With `json_malformed`: position in the body, from 1. */
  readonly line?: number;
  readonly column?: number;
}

/** One fault of a request, located by exactly one of `pointer`, `parameter` and `header`. */
export interface ProblemItem {
  /** A JSON pointer into the body. */
  readonly pointer?: string;
  readonly parameter?: string;
  readonly header?: string;
  readonly code: string;
  readonly detail: string;
  readonly allowed?: readonly (string | number | boolean)[];
  readonly did_you_mean?: string | number;
  /** For an unknown name: the most similar names. */
  readonly nearest?: readonly string[];
  /** With `combination_unavailable`. */
  readonly hazard?: string;
  readonly offered_years?: readonly number[];
  readonly offered_scenarios?: readonly string[];
}

/** An error response, from the service or from something in front of it. Network failures are thrown as `fetch` throws them. */
export class IsothermError extends Error {
  override readonly name = "IsothermError";
  readonly status: number;
  /** Absent if the response was not a problem document, such as a proxy's error page. */
  readonly problem: Problem | undefined;
  constructor(message: string, { status, problem }: { readonly status: number; readonly problem?: Problem }) {
    super(message);
    this.status = status;
    this.problem = problem;
  }
}

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
