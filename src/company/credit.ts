import type { BeforeAfter, CompanyResult } from "../contract/wireTypes.ts";
import {
  fiveYearDefaultProbability,
  oneYearDefaultProbability,
  shiftedDefaultProbability,
} from "./defaultProbability.ts";
import { isFinancial } from "./industryParameters.ts";
import { DEBT_INTEREST_RATE } from "./methodConstants.ts";
import type { Company } from "./request.ts";

/** Probabilities of default and expected losses before and after a loss of value. */
export type DefaultRisk = Pick<CompanyResult["credit"], "pd_5y" | "pd_1y" | "expected_loss_bp" | "expected_loss">;

const BASIS_POINTS = 1e4;

/**
 * Computes the probabilities of default of a company, and its expected losses.
 *
 * @param lostValueShare share of the value of the assets that is lost, below 1
 */
export function defaultRiskOf(company: Company, lostValueShare: number): DefaultRisk {
  const { totalAssetsUsd, ownDefaultProbability, exposureUsd } = company;
  const { lossGivenDefault } = company.assumptions;
  const volatility = company.industry.industry.assetVolatility;
  const debt = liabilitiesUsd(company);
  const modeled = (assets: number): number | null =>
    debt === undefined ? null : fiveYearDefaultProbability({ assets, debt, volatility });
  const fiveYears = { before: modeled(totalAssetsUsd), after: modeled(totalAssetsUsd * (1 - lostValueShare)) };
  const oneYear =
    ownDefaultProbability === undefined
      ? mapPair(fiveYears, oneYearDefaultProbability)
      : {
          before: ownDefaultProbability,
          after: shiftedDefaultProbability(ownDefaultProbability, { lostValueShare, volatility }),
        };
  return {
    pd_5y: fiveYears,
    pd_1y: { ...oneYear, basis: ownDefaultProbability === undefined ? "model" : "own" },
    expected_loss_bp: mapPair(oneYear, (probability) => BASIS_POINTS * lossGivenDefault * probability),
    ...(exposureUsd === undefined
      ? {}
      : { expected_loss: mapPair(oneYear, (probability) => exposureUsd * lossGivenDefault * probability) }),
  };
}

/** Returns what a company owes; undefined for a bank or insurer that does not report it. */
function liabilitiesUsd({ industry: { industry }, totalDebtUsd, totalLiabilitiesUsd }: Company): number | undefined {
  return isFinancial(industry) ? totalLiabilitiesUsd : totalDebtUsd;
}

function mapPair({ before, after }: BeforeAfter, of: (value: number) => number): BeforeAfter {
  return { before: before === null ? null : of(before), after: after === null ? null : of(after) };
}

/** Computes leverage and interest coverage from EBITDA as sent or estimated; null if they are undefined. */
export function debtRatiosOf(
  { ebitdaUsd, totalDebtUsd }: Company,
  lossUsd: number,
): Pick<CompanyResult["credit"], "debt_to_ebitda" | "interest_coverage"> {
  const remainingUsd = ebitdaUsd - lossUsd;
  const interestUsd = DEBT_INTEREST_RATE * totalDebtUsd;
  const leverage = (earningsUsd: number): number | null =>
    earningsUsd > 0 ? finiteOrNull(totalDebtUsd / earningsUsd) : null;
  const coverage = (earningsUsd: number): number | null =>
    interestUsd > 0 ? finiteOrNull(earningsUsd / interestUsd) : null;
  return {
    debt_to_ebitda: { before: leverage(ebitdaUsd), after: leverage(remainingUsd) },
    interest_coverage: { before: coverage(ebitdaUsd), after: coverage(remainingUsd) },
  };
}

/** Returns null for numbers that JSON cannot represent: ratios with a denominator close to 0. */
function finiteOrNull(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
