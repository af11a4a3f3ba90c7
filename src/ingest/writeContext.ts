import type { IngestOptions } from "./options.ts";
import type { SourceVersions } from "./sourceVersions.ts";

/** What writing a pack needs besides its plan. */
export interface WriteContext {
  readonly options: IngestOptions;
  readonly sources: SourceVersions;
}
