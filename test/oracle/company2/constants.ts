/**
 * Constants of the company method, version 2, as its text states them (sections 0, 4, 5 and 6). A test compares them
 * with `parameters.csv`.
 */

/** INFL: dollars of 2022 to dollars of 2025. */
export const INFL = 1.1;
export const BASE_YEAR = 2025;
export const HORIZON_YEAR = 2050;
export const TAX = 0.25;
export const DEFAULT_DISCOUNT_RATE = 0.08;
/** RF and TM: risk-free rate and term, in years, of the Merton model. */
export const RF = 0.03;
export const TM = 5;
/** KD: cost of debt. */
export const KD = 0.05;
export const DEFAULT_LGD = 0.45;
/** LOANS: loans over the assets of a bank. KOUT: capital over output. */
export const LOANS = 0.55;
export const KOUT = 3.5;
/** FLOOR: lowest EBITDA as a share of the normal margin. */
export const FLOOR = 0.5;

/** Section 2: lowest grid ratio in scope 2. */
export const GRID_MIN = 0.3;

/** Section 4: backstop price in USD per t, years of renewal, largest abated share. */
export interface Abatement {
  readonly backstop: number;
  readonly years: number;
  readonly maxShare: number;
}
export const POWER_ABATEMENT: Abatement = { backstop: 100, years: 20, maxShare: 0.95 };
export const SUPPLIER_ABATEMENT: Abatement = { backstop: 200, years: 25, maxShare: 0.9 };
export const PRODUCT_ABATEMENT: Abatement = { backstop: 150, years: 20, maxShare: 0.9 };
/** Shares of the cost of power producers and of suppliers that reach the company. */
export const TAU2 = 0.85;
export const TAU3 = 0.5;
/** Weight that buyers of a durable product give to its carbon cost in use. */
export const KAPPA = 0.5;
/** Years from short-run to long-run pass-through. */
export const PT_YEARS = 15;

/** Section 5: Kalkuhl and Wenz 2020. */
export const KW_A = 0.00986;
export const KW_B = -0.001808;
export const NGFS4_SCALE = 3.35;
export const NGFS5_SCALE = 10.1;
/** Global warming, in degrees C, that goes with the local climate about 1990. */
export const GSAT_OF_T0 = 0.55;
/** Share of labor cost that does not follow output. */
export const STICKY = 0.25;
/** Global warming, in degrees C, for which the loss ratios hold; rise of the loss ratios per degree. */
export const GSAT_REF = 1.23;
export const S_FLOOD = 0.65;
export const S_WIND = 0.16;
export const S_SURGE = 0.2;

/** Section 6: largest lost share of EBITDA, loss ratio at a score of 50. */
export const LOST_MAX = 1 - 1e-12;
export const HALF = 0.25;

/** Section 4: LGD of a bank's loans, whatever `lgd` says. */
export const LGD0 = 0.45;
/** Section 4: representative borrower of a bank. */
export const BORROWER = { revenue: 1, assets: 1.2, ebitda: 0.16, debt: 0.5, volatility: 0.25 };
