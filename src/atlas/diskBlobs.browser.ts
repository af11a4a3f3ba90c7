import { Fault } from "../errors.ts";
import type { diskBlobs as diskBlobsOfNode } from "./diskBlobs.ts";

/** Takes the place of diskBlobs.ts where there are no folders to open. */
export const diskBlobs: typeof diskBlobsOfNode = (folder) => {
  throw new Fault(
    "configuration_invalid",
    `A browser opens no folder (${JSON.stringify(folder)}): give the http or https address of the atlas, or "demo".`,
    { details: { address: folder } },
  );
};
