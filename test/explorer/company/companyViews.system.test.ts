import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { CompanyAnswer } from "../../../src/contract/wireTypes.ts";
import {
  alignmentCallOf,
  type AlignmentForm,
  encodeAlignmentForm,
  EXAMPLE_ALIGNMENT,
} from "../../../src/explorer/company/alignmentForm.ts";
import { EXAMPLE_RISK, type RiskForm, riskCallOf } from "../../../src/explorer/company/riskForm.ts";
import { VALUE_YEARS } from "../../../src/explorer/company/waterfall.ts";
import { alignTemperature, roundTemperatures, totalClimateRisk } from "../../../src/index.ts";
import { isChromiumAvailable } from "../../browser/chromium.ts";
import { closeExplorers, type ExplorerOptions, openExplorer, type OpenedExplorer, PHONE } from "../explorerPage.ts";

const describeInChromium = describe.skipIf(!isChromiumAvailable);
let opened: OpenedExplorer | undefined;

afterEach(async () => {
  await opened?.close();
  opened = undefined;
});
