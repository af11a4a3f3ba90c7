import type { PortfolioRequest } from "../../contract/wireTypes.ts";
import { countEntities } from "../../holdings/entityScores.ts";
import type { WholeBulkRoute } from "../bulkRoute.ts";
import { jsonReply } from "../route.ts";
import { portfolioAlignment } from "./portfolioAlignment.ts";
import { portfolioChunks } from "./portfolioText.ts";

const encoder = new TextEncoder();

/** Answers a request for a large portfolio chunk by chunk, with the same bytes as `portfolioAlignment`. */
export const bulkPortfolioAlignment: WholeBulkRoute<PortfolioRequest> = {
  kind: "whole",
  route: portfolioAlignment,
  async answer(request, { timeSlice, reportProgress }) {
    const { holdings, options: { methods = ["WATS"], scopes = ["s1s2s3"] } = {} } = request;
    const totalCount = countEntities(holdings).entityCount + methods.length * scopes.length;
    const parts: Uint8Array[] = [];
    let units = 0;
    let doneCount = 0;
    let partialResultBytes = 0;
    for await (const chunk of portfolioChunks(request)) {
      const bytes = encoder.encode(chunk.text);
      parts.push(bytes);
      units += chunk.units;
      doneCount += chunk.doneCount;
      partialResultBytes += bytes.length;
      reportProgress({ doneCount, totalCount, partialResultBytes });
      await timeSlice.yield();
    }
    return jsonReply(parts, units);
  },
};
