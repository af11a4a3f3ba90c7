import { Type } from "typebox";
import { FAULT_ITEM_COUNT_MAX } from "./ranges.ts";

export const ProblemItemSchema = Type.Object(
  {
    pointer: Type.Optional(Type.String({ description: "JSON pointer into the body; empty for the whole body." })),
    parameter: Type.Optional(Type.String({ description: "Name of a parameter of the path or the query." })),
    header: Type.Optional(Type.String({ description: "Name of a header field." })),
    code: Type.String({ description: "For programs to branch on: the meaning of a code never changes." }),
    detail: Type.String({ description: "What is wrong, and the accepted values." }),
    allowed: Type.Optional(
      Type.Array(Type.Union([Type.String(), Type.Number(), Type.Boolean()]), { description: "The accepted values." }),
    ),
    did_you_mean: Type.Optional(
      Type.Union([Type.String(), Type.Number()], { description: "The accepted value that was probably meant." }),
    ),
    nearest: Type.Optional(
      Type.Array(Type.String(), { description: "For an unknown name: the most similar names, most similar first." }),
    ),
    hazard: Type.Optional(
      Type.String({ description: "With `combination_unavailable`: the hazard that lacks the combination." }),
    ),
    offered_years: Type.Optional(
      Type.Array(Type.Integer(), { description: "With `combination_unavailable`: years that the hazard offers." }),
    ),
    offered_scenarios: Type.Optional(
      Type.Array(Type.String(), { description: "With `combination_unavailable`: scenarios that the hazard offers." }),
    ),
  },
  { description: "One fault of the request, located by `pointer`, `parameter` or `header`." },
);

/** A problem document, which src/host/problems/problem.ts creates. */
export const ProblemSchema = Type.Object(
  {
    type: Type.String({ format: "uri-reference", description: "URL of a page about the code." }),
    title: Type.String({ description: "Summary of the code." }),
    status: Type.Integer({ minimum: 400, maximum: 599, description: "Status of the response." }),
    code: Type.String({
      description: "For programs to branch on: the meaning of a code never changes; new codes may be added.",
    }),
    detail: Type.String({ description: "Explanation for people." }),
    request_id: Type.String({ format: "uuid", description: "Include it when you contact the operator." }),
    retryable: Type.Boolean({ description: "Whether the same request may succeed later." }),
    errors: Type.Optional(
      Type.Array(ProblemItemSchema, {
        maxItems: FAULT_ITEM_COUNT_MAX,
        description: "All faults that the caller can correct.",
      }),
    ),
    requested: Type.Optional(Type.Integer({ description: "With `too_many_values`: what the request asks for." })),
    limit: Type.Optional(Type.Integer({ description: "With `too_many_values`: what is allowed." })),
    line: Type.Optional(Type.Integer({ description: "With `json_malformed`: line in the body, from 1." })),
    column: Type.Optional(Type.Integer({ description: "With `json_malformed`: column in characters, from 1." })),
  },
  { description: "A problem document (RFC 9457)." },
);

/** The response of GET /problems/:code. */
export const ProblemDescriptionSchema = Type.Object({
  code: Type.String(),
  title: Type.String(),
  status: Type.Integer({ description: "Usual status; `customer_archived` is 403 on data requests." }),
  retryable: Type.Boolean({ description: "Whether the same request may succeed later." }),
  meaning: Type.String(),
  remedy: Type.String(),
});
