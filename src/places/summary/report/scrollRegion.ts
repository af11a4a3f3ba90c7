import { html, type Markup } from "../../../text/markup.ts";

/** Returns content that scrolls, also with the keyboard, if the page is too narrow for it. */
export function scrollRegion(label: string, content: Markup): Markup {
  return html`<div class="scroll" role="region" aria-label="${label}" tabindex="0">${content}</div>`;
}
