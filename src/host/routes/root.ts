import { type Static, Type } from "typebox";
import { encodeJson } from "../http/json.ts";
import { html, joinMarkup, htmlReply, prefersHtml } from "./htmlPage.ts";
import type { Route } from "./route.ts";

const AboutSchema = Type.Object({
  service: Type.String(),
  documentation: Type.String({ description: "Interactive API page." }),
  openapi: Type.String({ description: "OpenAPI document." }),
  health: Type.String(),
  readiness: Type.String(),
  atlas: Type.Object({
    release: Type.String(),
    synthetic: Type.Boolean({ description: "True if all values are invented, as in the demo." }),
  }),
});
type About = Static<typeof AboutSchema>;

/** GET /: describes the service and links to its documentation. */
export const root: Route<{ readonly isHtml: boolean }, { readonly about: About; readonly isHtml: boolean }> = {
  method: "GET",
  path: "/",
  access: "open",
  description: {
    operationId: "getService",
    tag: "Service",
    summary: "Service description",
    responses: {
      200: {
        description: "JSON, or an HTML page if Accept prefers `text/html`.",
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
    const warning = html`<p class="warning">All values of this atlas are invented. Do not base decisions on them.</p>`;
    const body = html`<h1>Isotherm</h1>
      <p>
        A climate-risk service: climate hazards at a location, the implied temperature rise of a company's emissions,
        and its transition and physical climate losses.
      </p>
      ${joinMarkup(synthetic ? [warning] : [])}
      <dl>
        <dt><a href="/docs">/docs</a></dt>
        <dd>interactive API page</dd>
        <dt><a href="/openapi.json">/openapi.json</a></dt>
        <dd>OpenAPI 3.1 document</dd>
        <dt>Atlas</dt>
        <dd>release <code>${release}</code></dd>
      </dl>`;
    return htmlReply({ title: "Isotherm", body }, { headers });
  },
};
