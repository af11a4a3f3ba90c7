import { Type } from "typebox";
import { encodeJson } from "../http/json.ts";
import { html, htmlReply, prefersHtml, markUpCode } from "./htmlPage.ts";
import { isProblemCode, type ProblemDescription, describeProblem } from "../problems/problemTexts.ts";
import { Refusal } from "../problems/problem.ts";
import type { Route } from "./route.ts";

interface PageRequest {
  readonly code: string;
  readonly isHtml: boolean;
}

/** GET /problems/:code: explains a problem code; the `type` of problem documents links here. */
export const problemPage: Route<PageRequest, { readonly problem: ProblemDescription; readonly isHtml: boolean }> = {
  method: "GET",
  path: "/problems/:code",
  access: "open",
  description: {
    operationId: "getProblem",
    tag: "Service",
    summary: "Explanation of a problem code",
    path: Type.Object({ code: Type.String({ description: "The `code` of a problem." }) }),
    parameterExamples: { code: "rate_limited" },
    responses: {
      200: {
        description: "JSON, or an HTML page if Accept prefers `text/html`.",
        alsoAs: ["text/html"],
        schema: Type.Object({
          code: Type.String(),
          title: Type.String(),
          status: Type.Integer({ description: "Usual status; `customer_archived` is 403 on data requests." }),
          retryable: Type.Boolean({ description: "Whether the same request may succeed later." }),
          meaning: Type.String(),
          remedy: Type.String(),
        }),
      },
    },
    problems: ["route_not_found"],
  },
  parse: ({ path, accept }) => ({ code: path["code"] ?? "", isHtml: prefersHtml(accept) }),
  handle({ code, isHtml }) {
    if (!isProblemCode(code)) throw new Refusal("route_not_found", "There is no problem code of this name.");
    return { problem: describeProblem(code), isHtml };
  },
  reply({ problem, isHtml }) {
    const headers = { Vary: "Accept" };
    if (!isHtml) return { status: 200, contentType: "application/json", body: encodeJson(problem), headers };
    const { code, title, status, retryable, meaning, remedy } = problem;
    const body = html`<h1>${title}</h1>
      <p><code>${code}</code>, status ${status}</p>
      <dl>
        <dt>What it means</dt>
        <dd>${markUpCode(meaning)}</dd>
        <dt>What to do</dt>
        <dd>${markUpCode(remedy)}</dd>
        <dt>Can the same request succeed later?</dt>
        <dd>${retryable ? "Yes." : "No, not unless something changes."}</dd>
      </dl>
      <p><a href="/docs">API reference</a></p>`;
    return htmlReply({ title: `${code} · Isotherm`, body }, { headers });
  },
};
