import type { IngestOptions } from "./options.ts";
import type { SourceVersions } from "./sourceVersions.ts";

/** Everything besides its plan that is needed to write a pack. */
export interface WriteContext {
  readonly options: IngestOptions;
  readonly sources: SourceVersions;
}
