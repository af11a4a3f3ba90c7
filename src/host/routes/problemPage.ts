import { Type } from "typebox";
import { encodeJson } from "../http/json.ts";
import { html, pageReply, prefersPage, withCode } from "./htmlPage.ts";
import { isProblemCode, type ProblemPage, problemPage as pageOf } from "../problems/problemTexts.ts";
import { Refusal } from "../problems/problem.ts";
import type { Route } from "./route.ts";

interface PageAsked {
  readonly code: string;
  readonly isPage: boolean;
}

/** GET /problems/:code: explains a problem; the `type` of a problem document is its address. */
export const problemPage: Route<PageAsked, { readonly problem: ProblemPage; readonly isPage: boolean }> = {
  method: "GET",
  path: "/problems/:code",
  access: "open",
  description: {
    operationId: "getProblem",
    tag: "Service",
    summary: "What a problem means, and what to do",
    path: Type.Object({ code: Type.String({ description: "`code` of a problem." }) }),
    parameterExamples: { code: "rate_limited" },
    answers: {
      200: {
        description: "As JSON, or as a page where Accept prefers `text/html`.",
        alsoAs: ["text/html"],
        schema: Type.Object({
          code: Type.String(),
          title: Type.String(),
          status: Type.Integer({ description: "The usual one; `customer_archived` is 403 on data calls." }),
          retryable: Type.Boolean({ description: "Whether the same request may succeed later." }),
          meaning: Type.String(),
          remedy: Type.String(),
        }),
      },
    },
    problems: ["route_not_found"],
  },
  parse: ({ path, accept }) => ({ code: path["code"] ?? "", isPage: prefersPage(accept) }),
  handle({ code, isPage }) {
    if (!isProblemCode(code)) throw new Refusal("route_not_found", "There is no problem of this name.");
    return { problem: pageOf(code), isPage };
  },
  reply({ problem, isPage }) {
    const headers = { Vary: "Accept" };
    if (!isPage) return { status: 200, contentType: "application/json", body: encodeJson(problem), headers };
    const { code, title, status, retryable, meaning, remedy } = problem;
    const body = html`<h1>${title}</h1>
      <p><code>${code}</code>, status ${status}</p>
      <dl>
        <dt>What it means</dt>
        <dd>${withCode(meaning)}</dd>
        <dt>What to do</dt>
        <dd>${withCode(remedy)}</dd>
        <dt>Can the same request succeed later?</dt>
        <dd>${retryable ? "Yes." : "No, not unless something changes."}</dd>
      </dl>
      <p><a href="/docs">All calls and their responses</a></p>`;
    return pageReply({ title: `${code} · Isotherm`, body }, { headers });
  },
};
