import { Fault } from "../errors.ts";
import type { diskBlobs as diskBlobsOfNode } from "./diskBlobs.ts";

/** Replaces diskBlobs.ts in browser bundles, which cannot open folders. */
export const diskBlobs: typeof diskBlobsOfNode = (folder) => {
  throw new Fault(
    "configuration_invalid",
    `In a browser the address of an atlas must be an http or https address, or "demo" (got ${JSON.stringify(folder)}).`,
    { details: { address: folder } },
  );
};
