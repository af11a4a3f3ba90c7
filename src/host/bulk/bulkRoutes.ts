import { bulkAlignment } from "../routes/bulkAlignment.ts";
import { bulkPortfolioAlignment } from "../routes/bulkPortfolioAlignment.ts";
import { bulkHazardCurveBatch } from "../routes/hazardCurveBatch.ts";
import { bulkHazardRiskBatch } from "../routes/hazardRiskBatch.ts";
import type { BulkRoute } from "../bulkRoute.ts";

/** Routes that are answered in time slices, by path. Requests to other routes take one slice. */
export const BULK_ROUTES: ReadonlyMap<string, BulkRoute<unknown>> = new Map(
  [bulkHazardRiskBatch, bulkHazardCurveBatch, bulkAlignment, bulkPortfolioAlignment].map((bulk) => [
    bulk.route.path,
    bulk as BulkRoute<unknown>,
  ]),
);
