/** Total climate risk of a company. */
export function ClimateRiskView() {
  return null;
}
