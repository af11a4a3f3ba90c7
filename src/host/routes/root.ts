import { AboutSchema } from "../../contract/service.ts";
import type { About } from "../../contract/wireTypes.ts";
import { encodeJson } from "../../text/json/json.ts";
import { html, joinMarkup } from "../../text/markup.ts";
import { htmlReply, prefersHtml } from "./htmlPage.ts";
import type { Route } from "../route.ts";
import { explorerReply, INSTALLED_EXPLORER, type InstalledExplorer } from "./explorer.ts";

interface RootAnswer {
  readonly about: About;
  readonly isHtml: boolean;
  readonly prefix: string;
}

/** GET /: the explorer, or a page with links if it is not installed; for programs, a description of the service. */
export const root = ({ explorer }: InstalledExplorer = INSTALLED_EXPLORER): Route<
  { readonly isHtml: boolean },
  RootAnswer
> => ({
  method: "GET",
  path: "/",
  access: "open",
  description: {
    operationId: "getService",
    tag: "Service",
    summary: "Service description",
    responses: {
      200: {
        description: "JSON, or the explorer, an HTML page, if Accept prefers `text/html`.",
        otherContentTypes: ["text/html"],
        schema: AboutSchema,
      },
    },
    problems: [],
  },
  parse: ({ accept }) => ({ isHtml: prefersHtml(accept) }),
  handle: ({ isHtml }, { services: { atlas, prefix } }) => ({
    about: {
      service: "isotherm",
      documentation: `${prefix}/docs`,
      openapi: `${prefix}/openapi.json`,
      health: `${prefix}/healthz`,
      readiness: `${prefix}/readyz`,
      atlas: { release: atlas.release, synthetic: atlas.synthetic },
    },
    isHtml,
    prefix,
  }),
  reply({ about, isHtml, prefix }) {
    const headers = { Vary: "Accept" };
    if (!isHtml) return { status: 200, contentType: "application/json", body: encodeJson(about), headers };
    if (explorer !== undefined) return explorerReply(explorer, prefix);
    const { release, synthetic } = about.atlas;
    const warning = html`<p class="warning">All values of this atlas are invented. Do not base decisions on them.</p>`;
    const body = html`<h1>Isotherm</h1>
      <p>
        A climate-risk service: climate hazards at a location, the implied temperature rise of a company's emissions,
        and its transition and physical climate losses.
      </p>
      ${joinMarkup(synthetic ? [warning] : [])}
      <dl>
        <dt><a href="${about.documentation}">${about.documentation}</a></dt>
        <dd>interactive API page</dd>
        <dt><a href="${about.openapi}">${about.openapi}</a></dt>
        <dd>OpenAPI 3.1 document</dd>
        <dt>Atlas</dt>
        <dd>release <code>${release}</code></dd>
      </dl>`;
    return htmlReply({ title: "Isotherm", body }, { headers });
  },
});
