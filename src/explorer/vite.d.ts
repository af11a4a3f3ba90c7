/// <reference types="vite/client" />

/** The address of the compressed file (scripts/buildExplorer.mjs). */
declare module "*.json?gzip" {
  const url: string;
  export default url;
}
