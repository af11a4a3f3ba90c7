import { Type } from "typebox";
import { FAULT_ITEM_COUNT_MAX } from "./ranges.ts";

export const ProblemItemSchema = Type.Object(
  {
    pointer: Type.Optional(Type.String({ description: "JSON pointer into the body; empty for the whole body." })),
    parameter: Type.Optional(Type.String({ description: "Name of a parameter of the path or the query." })),
    header: Type.Optional(Type.String({ description: "Name of a header field." })),
    code: Type.String({ description: "Stable error code that programs can branch on." }),
    detail: Type.String({ description: "What is wrong, and what is accepted." }),
    allowed: Type.Optional(
      Type.Array(Type.Union([Type.String(), Type.Number(), Type.Boolean()]), { description: "The accepted values." }),
    ),
    did_you_mean: Type.Optional(
      Type.Union([Type.String(), Type.Number()], { description: "The accepted value that was probably meant." }),
    ),
    nearest: Type.Optional(
      Type.Array(Type.String(), {
        description:
          "Names most similar to an unknown name, most similar first; for a name with several meanings, all of them.",
      }),
    ),
    hazard: Type.Optional(
      Type.String({ description: "Hazard that does not have the combination; present for `combination_unavailable`." }),
    ),
    offered_years: Type.Optional(
      Type.Array(Type.Integer(), {
        description: "Years for which the hazard has data; present for `combination_unavailable`.",
      }),
    ),
    offered_scenarios: Type.Optional(
      Type.Array(Type.String(), {
        description: "Scenarios for which the hazard has data; present for `combination_unavailable`.",
      }),
    ),
  },
  { description: "One error in the request, located by `pointer`, `parameter` or `header`." },
);

/** A problem document, which src/host/problems/problem.ts creates. */
export const ProblemSchema = Type.Object(
  {
    type: Type.String({ format: "uri-reference", description: "URL of a page about the code." }),
    title: Type.String({ description: "Summary of the code." }),
    status: Type.Integer({ minimum: 400, maximum: 599, description: "Status of the response." }),
    code: Type.String({
      description: "Stable error code that programs can branch on. New codes may be added.",
    }),
    detail: Type.String({ description: "Explanation for people." }),
    request_id: Type.String({ format: "uuid", description: "Include it when you contact the operator." }),
    retryable: Type.Boolean({ description: "Whether the same request may succeed later." }),
    errors: Type.Optional(
      Type.Array(ProblemItemSchema, {
        maxItems: FAULT_ITEM_COUNT_MAX,
        description: "Errors that the caller can correct.",
      }),
    ),
    requested: Type.Optional(
      Type.Integer({ description: "Number of values requested; present for `too_many_values`." }),
    ),
    limit: Type.Optional(Type.Integer({ description: "Maximum number of values; present for `too_many_values`." })),
    line: Type.Optional(
      Type.Integer({ description: "Line in the body, counted from 1; present for `json_malformed`." }),
    ),
    column: Type.Optional(
      Type.Integer({ description: "Column in characters, counted from 1; present for `json_malformed`." }),
    ),
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
