import { Type } from "typebox";
import { ProblemDescriptionSchema } from "../../contract/problem.ts";
import type { ProblemDescription } from "../../contract/wireTypes.ts";
import { encodeJson } from "../../text/json/json.ts";
import { html } from "../../text/markup.ts";
import { htmlReply, prefersHtml, markUpCode } from "./htmlPage.ts";
import { isProblemCode, describeProblem } from "../problems/problemTexts.ts";
import { Fault } from "../../errors.ts";
import { quote } from "../../validation/schemaErrors.ts";
import type { Route } from "../route.ts";

interface ProblemPageRequest {
  readonly code: string;
  readonly isHtml: boolean;
}

interface ProblemPage {
  readonly problem: ProblemDescription;
  readonly isHtml: boolean;
  /** Path of the API reference page. */
  readonly docsPath: string;
}

/** GET /problems/:code: explains a problem code; the `type` of problem documents links here. */
export const problemPage: Route<ProblemPageRequest, ProblemPage> = {
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
        otherContentTypes: ["text/html"],
        schema: ProblemDescriptionSchema,
      },
    },
    problems: ["route_not_found"],
  },
  parse: ({ path, accept }) => ({ code: path["code"] ?? "", isHtml: prefersHtml(accept) }),
  handle({ code, isHtml }, { services: { prefix } }) {
    if (!isProblemCode(code))
      throw new Fault(
        "route_not_found",
        `There is no problem code ${quote(code)}; the path must end with the \`code\` of a problem.`,
      );
    return { problem: describeProblem(code, prefix), isHtml, docsPath: `${prefix}/docs` };
  },
  reply({ problem, isHtml, docsPath }) {
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
      <p><a href="${docsPath}">API reference</a></p>`;
    return htmlReply({ title: `${code} · Isotherm`, body }, { headers });
  },
};
