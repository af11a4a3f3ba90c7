import { Type } from "typebox";

/** One fault of a request; exactly one of `pointer`, `parameter` and `header` locates it. */
export const ProblemItemSchema = Type.Object(
  {
    pointer: Type.Optional(Type.String({ description: "JSON pointer into the body; empty for the whole body." })),
    parameter: Type.Optional(Type.String()),
    header: Type.Optional(Type.String()),
    code: Type.String(),
    detail: Type.String({ description: "The fault and the accepted values." }),
    allowed: Type.Optional(Type.Array(Type.Union([Type.String(), Type.Number(), Type.Boolean()]))),
    did_you_mean: Type.Optional(Type.Union([Type.String(), Type.Number()])),
    nearest: Type.Optional(Type.Array(Type.String(), { description: "The most similar names." })),
    hazard: Type.Optional(Type.String()),
    offered_years: Type.Optional(Type.Array(Type.Integer())),
    offered_scenarios: Type.Optional(Type.Array(Type.String())),
  },
  { description: "One fault of the request, located by `pointer`, `parameter` or `header`." },
);

/** Schema of the problem documents that src/host/problems/problem.ts creates. */
export const ProblemSchema = Type.Object(
  {
    type: Type.String({ format: "uri-reference", description: "URL of a page about the code." }),
    title: Type.String(),
    status: Type.Integer({ minimum: 400, maximum: 599 }),
    code: Type.String({
      description: "For programs to branch on: the meaning of a code never changes; new codes may be added.",
    }),
    detail: Type.String({ description: "Explanation for people." }),
    request_id: Type.String({ format: "uuid", description: "Include it when you contact the operator." }),
    retryable: Type.Boolean({ description: "Whether the same request may succeed later." }),
    errors: Type.Optional(
      Type.Array(ProblemItemSchema, { maxItems: 100, description: "All faults that the caller can correct." }),
    ),
    requested: Type.Optional(Type.Integer({ description: "With `too_many_values`: what the request asks for." })),
    limit: Type.Optional(Type.Integer({ description: "With `too_many_values`: what is allowed." })),
    line: Type.Optional(Type.Integer({ description: "With `json_malformed`: line in the body, from 1." })),
    column: Type.Optional(Type.Integer({ description: "With `json_malformed`: column in characters, from 1." })),
  },
  { description: "A problem document (RFC 9457)." },
);
