/** Returns the text of src/contract/wireTypes.ts for the exports of the modules with the schemas. */
export function wireTypesText(modules: readonly Readonly<Record<string, unknown>>[]): string;
