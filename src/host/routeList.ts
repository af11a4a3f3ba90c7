import type { Route } from "./route.ts";
import { alignment } from "./routes/alignment.ts";
import { archiveCustomer } from "./routes/archiveCustomer.ts";
import { customerUsage } from "./routes/customerUsage.ts";
import { docs, docsFile } from "./routes/docs.ts";
import { getCustomer } from "./routes/getCustomer.ts";
import { hazardRisk } from "./routes/hazardRisk.ts";
import { hazardRiskBatch } from "./routes/hazardRiskBatch.ts";
import { hazards } from "./routes/hazards.ts";
import { healthz } from "./routes/healthz.ts";
import { limits } from "./routes/limits.ts";
import { listCustomers } from "./routes/listCustomers.ts";
import { openApi } from "./routes/openApi.ts";
import { problemPage } from "./routes/problemPage.ts";
import { readyz } from "./routes/readyz.ts";
import { countries, industries, scenarios } from "./routes/reference.ts";
import { registerCustomer } from "./routes/registerCustomer.ts";
import { root } from "./routes/root.ts";
import { totalClimateRisk } from "./routes/totalClimateRisk.ts";
import { usage } from "./routes/usage.ts";

/** All that the host answers, in the order of the published contract. */
export const ROUTES: readonly Route<unknown, unknown>[] = [
  hazardRisk,
  hazardRiskBatch,
  hazards,
  alignment,
  totalClimateRisk,
  industries,
  countries,
  scenarios,
  registerCustomer,
  listCustomers,
  getCustomer,
  archiveCustomer,
  usage,
  customerUsage,
  limits,
  root,
  openApi(() => ROUTES),
  docs(),
  docsFile(),
  problemPage,
  healthz,
  readyz,
];
