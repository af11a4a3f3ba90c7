/** The standard normal distribution, from textbook expansions: slow, with a relative error of about 1e-13. */

/** Levels of the continued fraction of erfc: at x = 2 the remainder is below 1e-25. */
const FRACTION_LEVELS = 150;

/** Complementary error function. */
export function erfc(x: number): number {
  if (x < 0) return 2 - erfc(-x);
  return x < 2 ? 1 - erfBySeries(x) : erfcByFraction(x);
}

/** erf(x) = 2/sqrt(pi) exp(-x^2) sum over n of 2^n x^(2n+1) / (1 3 5 ... (2n+1)); all terms are positive. */
function erfBySeries(x: number): number {
  let term = x;
  let sum = 0;
  for (let n = 0; term > 1e-20 * sum; n++) {
    sum += term;
    term = (term * 2 * x * x) / (2 * n + 3);
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

/** erfc(x) = exp(-x^2)/sqrt(pi) / (x + (1/2)/(x + (2/2)/(x + (3/2)/(x + ...)))), Laplace's continued fraction. */
function erfcByFraction(x: number): number {
  if (x > 28) return 0; // below the smallest positive number
  let denominator = x;
  for (let level = FRACTION_LEVELS; level >= 1; level--) denominator = x + level / 2 / denominator;
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / denominator;
}

/** N(z) = erfc(-z / sqrt 2) / 2. */
export function normalCdf(z: number): number {
  return erfc(-z / Math.SQRT2) / 2;
}

/** N^-1(p) for p in (0, 1), by bisection until the interval cannot be halved. */
export function inverseNormalCdf(p: number): number {
  if (p > 0.5) return -inverseNormalCdf(1 - p); // 1 - p is exact here, and the lower tail is resolved better
  let low = -40;
  let high = 0;
  for (;;) {
    const middle = (low + high) / 2;
    if (middle <= low || middle >= high) return middle;
    if (normalCdf(middle) < p) low = middle;
    else high = middle;
  }
}
