/** A request for company tests, and the errors of changed ones. */
import { expect } from "vitest";
import { readCompanyRequest } from "../../src/company/request.ts";
import { type Fault, isFault } from "../../src/errors.ts";

/** A request as callers send it, with amounts as text. */
export const REQUEST = {
  name: "Ours",
  country: "India",
  industry: "Cement and lime",
  revenue: "7870000000",
  total_assets: "11400000000",
  ebitda: "1380000000",
  total_debt: "1230000000",
  transition_scenarios: ["NGFS_NET_ZERO_2050"],
  assessment_years: [2030],
};

export function faultOf(run: () => unknown): Fault {
  try {
    run();
  } catch (error) {
    if (isFault(error)) return error;
    throw error;
  }
  return expect.fail("the request was not rejected");
}

/** Returns the fault of the request with changed members. */
export const refusal = (change: object): Fault => faultOf(() => readCompanyRequest({ ...REQUEST, ...change }));
/** Returns the pointer and the code of each error. */
export const pointersAndCodes = ({ items }: Fault): string[] => items.map(({ pointer, code }) => `${pointer} ${code}`);
