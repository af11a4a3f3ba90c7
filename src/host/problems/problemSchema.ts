import { Type } from "typebox";

/** One thing that is wrong; exactly one of the first three says where. */
export const ProblemItemSchema = Type.Object(
  {
    pointer: Type.Optional(Type.String({ description: "A JSON pointer into the body; empty for the whole of it." })),
    parameter: Type.Optional(Type.String()),
    header: Type.Optional(Type.String()),
    code: Type.String(),
    detail: Type.String({ description: "What is wrong, and what would be right." }),
    allowed: Type.Optional(Type.Array(Type.Union([Type.String(), Type.Number(), Type.Boolean()]))),
    did_you_mean: Type.Optional(Type.Union([Type.String(), Type.Number()])),
    nearest: Type.Optional(Type.Array(Type.String(), { description: "The names that come nearest." })),
    hazard: Type.Optional(Type.String()),
    offered_years: Type.Optional(Type.Array(Type.Integer())),
    offered_scenarios: Type.Optional(Type.Array(Type.String())),
  },
  { description: "One thing that is wrong; one of `pointer`, `parameter` and `header` says where." },
);

/** A refusal, as the published contract has it; src/host/problems/problem.ts makes it. */
export const ProblemSchema = Type.Object(
  {
    type: Type.String({ format: "uri-reference", description: "The address of a page about the code." }),
    title: Type.String(),
    status: Type.Integer({ minimum: 400, maximum: 599 }),
    code: Type.String({
      description: "Programs branch on it: a code never changes its meaning. There may be new ones.",
    }),
    detail: Type.String({ description: "For people to read." }),
    request_id: Type.String({ format: "uuid", description: "To be named when asking the operator." }),
    retryable: Type.Boolean({ description: "Whether the same request may succeed later." }),
    errors: Type.Optional(
      Type.Array(ProblemItemSchema, { maxItems: 100, description: "All that the caller can put right, at once." }),
    ),
    requested: Type.Optional(Type.Integer({ description: "With `too_many_values`." })),
    limit: Type.Optional(Type.Integer({ description: "With `too_many_values`." })),
    line: Type.Optional(Type.Integer({ description: "With `json_malformed`, from 1." })),
    column: Type.Optional(Type.Integer({ description: "With `json_malformed`, from 1, in characters." })),
  },
  { description: "A refusal (RFC 9457)." },
);
