import type { Route } from "../route.ts";
import { alignment } from "./alignment.ts";
import { archiveCustomer } from "./customers.ts";
import { customerUsage } from "./usage.ts";
import { docs, docsFile } from "./docs.ts";
import { explorerFile } from "./explorer.ts";
import { getCustomer } from "./customers.ts";
import { hazardCurve } from "./hazardCurve.ts";
import { hazardCurveBatch } from "./hazardCurveBatch.ts";
import { hazardRisk } from "./hazardRisk.ts";
import { hazardRiskBatch } from "./hazardRiskBatch.ts";
import { hazards } from "./hazards.ts";
import { healthz } from "./healthChecks.ts";
import { limits } from "./limits.ts";
import { listCustomers } from "./customers.ts";
import { openApi } from "./openApi.ts";
import { portfolioAlignment } from "./portfolioAlignment.ts";
import { problemPage } from "./problemPage.ts";
import { readyz } from "./healthChecks.ts";
import { countries, industries, scenarios } from "./reference.ts";
import { registerCustomer } from "./customers.ts";
import { root } from "./root.ts";
import { tileImage } from "./mapTiles.ts";
import { tileJson } from "./mapTiles.ts";
import { totalClimateRisk } from "./totalClimateRisk.ts";
import { usage } from "./usage.ts";
import { valueTile } from "./mapTiles.ts";

/** All routes of the host, in the order of the published contract. */
export const ROUTES: readonly Route<unknown, unknown>[] = [
  hazardRisk,
  hazardRiskBatch,
  hazardCurve,
  hazardCurveBatch,
  hazards,
  valueTile,
  tileImage,
  tileJson,
  alignment,
  portfolioAlignment,
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
  root(),
  explorerFile(),
  openApi(() => ROUTES),
  docs(),
  docsFile(),
  problemPage,
  healthz,
  readyz,
];
