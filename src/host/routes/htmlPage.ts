import { createHash } from "node:crypto";
import { escapeHtml, html, type Markup } from "../../text/markup.ts";
import type { Reply } from "../route.ts";

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 44rem; margin: 3rem auto; padding: 0 1rem; color: #1c2733; background: #fff }
h1 { font-size: 1.5rem; line-height: 1.25 } a { color: #0b5cad } code, pre { font-family: ui-monospace, monospace; font-size: 0.9em }
pre { background: #f2f5f8; padding: 0.75rem; overflow-x: auto } dt { font-weight: 600; margin-top: 0.75rem } dd { margin: 0 }
.warning { border-left: 4px solid #b4490f; padding-left: 0.75rem }
@media (prefers-color-scheme: dark) { body { color: #dfe6ec; background: #12181e } a { color: #7db8f0 } pre { background: #1d262e } }
`;

/** Allows only the style above: no scripts, images, frames or external resources. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The policy contains the hash of the style, so the element must not contain any other character. */
const STYLE_ELEMENT: Markup = { html: `<style>${STYLE}</style>` };

/** Escapes text and converts its `backtick` spans to code elements. */
export function markUpCode(text: string): Markup {
  return { html: escapeHtml(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>") };
}

/** Returns a complete HTML page as a reply. */
export function htmlReply(
  page: { readonly title: string; readonly body: Markup },
  {
    status = 200,
    headers = {},
  }: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> } = {},
): Reply {
  const document = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${page.title}</title>
        ${STYLE_ELEMENT}
      </head>
      <body>
        ${page.body}
      </body>
    </html> `;
  return {
    status,
    contentType: "text/html; charset=utf-8",
    body: document.html,
    headers: { "Content-Security-Policy": POLICY, "Referrer-Policy": "no-referrer", ...headers },
  };
}

const HTML_TYPES = ["text/html", "text/*", "*/*"];
const JSON_TYPES = ["application/json", "application/*", "*/*"];

/** Returns whether an Accept header prefers HTML to JSON (RFC 9110, section 12.5.1); JSON wins a tie. */
export function prefersHtml(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  const weights = new Map<string, number>();
  for (const range of accept.toLowerCase().split(",")) {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim());
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    weights.set(type, weight === undefined ? 1 : Number(weight) || 0);
  }
  const weightOf = (types: readonly string[]): number =>
    weights.get(types.find((type) => weights.has(type)) ?? "") ?? 0;
  return weightOf(HTML_TYPES) > weightOf(JSON_TYPES);
}
