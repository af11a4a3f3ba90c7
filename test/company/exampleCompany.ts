/** A request of company risk without assessment years. */
export const EXAMPLE_COMPANY = {
  name: "Example Cement Ltd",
  country: "India",
  industry: "cement_lime",
  revenue: "7870000000",
  total_assets: "11400000000",
  ebitda: "1380000000",
  total_debt: "1230000000",
  transition_scenarios: ["NGFS_NET_ZERO_2050"],
};
