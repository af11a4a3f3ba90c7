/**
 * exp, log, powers and erfc with the same result in every JavaScript engine. ECMAScript leaves the last digits of `Math.exp` and its
 * relatives to the engine: Node.js 20 and Chromium 156 differ in a tenth of the results, and answers must not depend on where
 * they are computed. stdlib computes them from additions, multiplications and divisions, with errors below one unit in the last
 * place.
 */
import erfc from "@stdlib/math-base-special-erfc";
import exp from "@stdlib/math-base-special-exp";
import expm1 from "@stdlib/math-base-special-expm1";
import log from "@stdlib/math-base-special-ln";
import log1p from "@stdlib/math-base-special-log1p";
import power from "@stdlib/math-base-special-pow";

export { erfc, exp, expm1, log, log1p, power };
