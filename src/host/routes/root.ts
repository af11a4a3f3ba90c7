import { type Static, Type } from "typebox";
import { encodeJson } from "../http/json.ts";
import { html, joinMarkup, htmlReply, prefersHtml } from "./htmlPage.ts";
import type { Route } from "./route.ts";

const AboutSchema = Type.Object({
  service: Type.String(),
  documentation: Type.String({ description: "A page where every call can be tried." }),
  openapi: Type.String({ description: "The same for programs." }),
  health: Type.String(),
  readiness: Type.String(),
  atlas: Type.Object({
    release: Type.String(),
    synthetic: Type.Boolean({ description: "True where every number is invented: the demo." }),
  }),
});
type About = Static<typeof AboutSchema>;

/** GET /: what answers here, and where to read on. */
export const root: Route<{ readonly isHtml: boolean }, { readonly about: About; readonly isHtml: boolean }> = {
  method: "GET",
  path: "/",
  access: "open",
  description: {
    operationId: "getService",
    tag: "Service",
    summary: "What answers here",
    responses: {
      200: {
        description: "As JSON, or as a page where Accept prefers `text/html`.",
        alsoAs: ["text/html"],
        schema: AboutSchema,
      },
    },
    problems: [],
  },
  parse: ({ accept }) => ({ isHtml: prefersHtml(accept) }),
  handle: ({ isHtml }, { services: { atlas } }) => ({
    about: {
      service: "isotherm",
      documentation: "/docs",
      openapi: "/openapi.json",
      health: "/healthz",
      readiness: "/readyz",
      atlas: { release: atlas.release, synthetic: atlas.synthetic },
    },
    isHtml,
  }),
  reply({ about, isHtml }) {
    const headers = { Vary: "Accept" };
    if (!isHtml) return { status: 200, contentType: "application/json", body: encodeJson(about), headers };
    const { release, synthetic } = about.atlas;
    const warning = html`<p class="warning">Every number of this atlas is invented. Decide nothing by it.</p>`;
    const body = html`<h1>Isotherm</h1>
      <p>
        A climate-risk service: what the climate will do at a place, how warm the world is that a company's emissions
        belong to, and what transition and climate cost it.
      </p>
      ${joinMarkup(synthetic ? [warning] : [])}
      <dl>
        <dt><a href="/docs">/docs</a></dt>
        <dd>every call, to be read and tried with a key</dd>
        <dt><a href="/openapi.json">/openapi.json</a></dt>
        <dd>the same for programs, as OpenAPI 3.1</dd>
        <dt>Atlas</dt>
        <dd>release <code>${release}</code></dd>
      </dl>`;
    return htmlReply({ title: "Isotherm", body }, { headers });
  },
};
