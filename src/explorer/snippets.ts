/** What the programs to copy have in common: their languages, their target and the variables that they read. */

/** Where the programs send their request. */
export type SnippetTarget =
  | { readonly kind: "service"; /** With a slash at its end. */ readonly baseUrl: string }
  | { readonly kind: "published"; readonly atlasUrl: string };

export const SNIPPET_LANGUAGES = ["curl", "typescript", "python", "json"] as const;
export type SnippetLanguage = (typeof SNIPPET_LANGUAGES)[number];

export const LANGUAGE_TITLES: Readonly<Record<SnippetLanguage, string>> = {
  curl: "curl",
  typescript: "TypeScript",
  python: "Python",
  json: "JSON",
};

/** A program, or why there is none. */
export type Snippet = { readonly code: string } | { readonly unavailable: string };

/** Environment variables that the programs read. Their values are never part of a program. */
export const KEY_VARIABLE = "ISOTHERM_KEY";
export const CUSTOMER_VARIABLE = "ISOTHERM_CUSTOMER";
