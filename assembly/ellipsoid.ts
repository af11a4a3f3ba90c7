/** Semi-major axis of WGS84, meters. */
export const WGS84_A: f64 = 6378137.0;
const WGS84_F: f64 = 1.0 / 298.257223563;
/** First eccentricity squared. */
export const E2: f64 = WGS84_F * (2.0 - WGS84_F);
const E: f64 = Math.sqrt(E2);
/** Radians per degree. */
export const DEGREE: f64 = Math.PI / 180.0;

/**
 * Returns the relative area of the band between two parallels, whose latitudes are in radians.
 *
 * Formula  q(north) - q(south), q = sin / (1 - e2 sin2) + atanh(e sin) / e (Snyder, Map Projections, USGS 1395,
 *          3-12), rearranged to avoid cancellation in thin rows:
 *          sinN - sinS = 2 cos(mid) sin(height / 2), atanh a - atanh b = atanh((a - b) / (1 - a b)).
 */
export function bandWeight(northRad: f64, southRad: f64): f64 {
  const sinN = Math.sin(northRad),
    sinS = Math.sin(southRad);
  const rise = 2.0 * Math.cos(0.5 * (northRad + southRad)) * Math.sin(0.5 * (northRad - southRad));
  const product = E2 * sinN * sinS;
  const share = (rise * (1.0 + product)) / ((1.0 - E2 * sinN * sinN) * (1.0 - E2 * sinS * sinS));
  return share + Math.atanh((E * rise) / (1.0 - product)) / E;
}
