/** A refusal (RFC 9457). Programs branch on `code`. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  /** To be named when asking the operator. */
  readonly request_id: string;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** Everything that the caller can put right. */
  readonly errors?: readonly ProblemItem[];
  /** With `too_many_values`. */
  readonly requested?: number;
  readonly limit?: number;
  /** With `json_malformed`: where in the body, counted from 1. */
  readonly line?: number;
  readonly column?: number;
}

/** Exactly one of `pointer`, `parameter` and `header` says where. */
export interface ProblemItem {
  /** A JSON pointer into the body. */
  readonly pointer?: string;
  readonly parameter?: string;
  readonly header?: string;
  readonly code: string;
  readonly detail: string;
  readonly allowed?: readonly (string | number | boolean)[];
  readonly did_you_mean?: string | number;
  /** With a name that is not known: those most like it. */
  readonly nearest?: readonly string[];
  /** With `combination_unavailable`. */
  readonly hazard?: string;
  readonly offered_years?: readonly number[];
  readonly offered_scenarios?: readonly string[];
}

/** The service refused, or what answered was not the service. A connection that fails throws as `fetch` does. */
export class IsothermError extends Error {
  override readonly name = "IsothermError";
  readonly status: number;
  /** Absent where the answer was no problem document: a proxy's page, say. */
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
