/** The form of the alignment view: the company, its emissions by year, and the options of the method. */
import { ALIGNMENT_BASES, ALIGNMENT_INCLUDES, BENCHMARK_IDS, BUDGET_SCENARIOS } from "../../contract/names.ts";
import type { AlignmentBasis, AlignmentInclude, BudgetScenario } from "../../contract/wireTypes.ts";
import { BASELINE, EmissionsTable } from "./alignmentEmissions.tsx";
import type { AlignmentForm, BaselineText } from "./alignmentForm.ts";
import { CheckField, ChoiceField, type CompanyNames, IdentityFields, Suggestions, TextField } from "./fields.tsx";
import { NGFS_TITLES } from "./companyFormat.ts";

const BASIS_NAMES: Readonly<Record<AlignmentBasis, string>> = {
  intensity: "Emissions per revenue (intensity)",
  emissions: "Emissions",
  cumulative: "Cumulative emissions since the baseline",
};

const INCLUDE_NAMES: Readonly<Record<AlignmentInclude, string>> = {
  overall: "Temperature of all years",
  climate_range: "Range of the climate response",
  by_scope: "Temperatures by scope",
  budget: "Emissions budget",
};

const BUDGET_NAMES: Readonly<Record<BudgetScenario, string>> = {
  net_zero_2050: NGFS_TITLES.NGFS_NET_ZERO_2050,
  below_2c: NGFS_TITLES.NGFS_BELOW_2C,
  ndcs: NGFS_TITLES.NGFS_NDC,
  current_policies: NGFS_TITLES.NGFS_CURRENT_POLICIES,
};

interface EntityProps {
  readonly form: AlignmentForm;
  readonly edit: (change: Partial<AlignmentForm>) => void;
  /** Names to suggest. */
  readonly names: CompanyNames;
}

export function AlignmentEntityForm({ form, edit, names }: EntityProps) {
  const { baseline } = form;
  const editBaseline = (change: Partial<BaselineText>): void => edit({ baseline: { ...baseline, ...change } });
  return (
    <>
      <fieldset>
        <legend>Company</legend>
        <IdentityFields
          location="/0/entity_info"
          form={form}
          edit={edit}
          names={names}
          requiresAll={false}
          countryHint="Name or ISO code. Gives the growth that is assumed without projected revenue."
          industryHint="Name in any classification, or a code of ISIC, NACE or NAICS."
        />
        <TextField
          location="/0/entity_info/sector"
          label="Sector"
          hint="Used if the industry is not known."
          list="alignment-sectors"
          value={form.sector}
          onInput={(sector) => edit({ sector })}
        />
        <Suggestions id="alignment-sectors" names={names.sectors} />
      </fieldset>
      <EmissionsTable form={form} edit={edit} editBaseline={editBaseline} />
      <fieldset>
        <legend>Method</legend>
        <ChoiceField
          location="?basis"
          label="Compared quantity (basis)"
          value={form.basis}
          choices={ALIGNMENT_BASES.map((value) => ({ value, name: BASIS_NAMES[value] }))}
          onChange={(basis) => edit({ basis })}
        />
        <ChoiceField
          location="?benchmark"
          label="Benchmark"
          value={form.benchmark}
          choices={BENCHMARK_IDS.map((value) => ({ value, name: value }))}
          onChange={(benchmark) => edit({ benchmark })}
        />
        <div role="group" aria-labelledby="alignment-include">
          <p id="alignment-include" class="group-label">
            Add to the results
          </p>
          {ALIGNMENT_INCLUDES.map((name) => (
            <CheckField
              key={name}
              label={INCLUDE_NAMES[name]}
              isChecked={form.include.includes(name)}
              onChange={(isChecked) =>
                edit({
                  include: ALIGNMENT_INCLUDES.filter((other) =>
                    other === name ? isChecked : form.include.includes(other),
                  ),
                })
              }
            />
          ))}
        </div>
        {form.include.includes("budget") ? (
          <ChoiceField
            location="?budget_scenario"
            label="Scenario of the budget"
            value={form.budgetScenario}
            choices={BUDGET_SCENARIOS.map((value) => ({ value, name: BUDGET_NAMES[value] }))}
            onChange={(budgetScenario) => edit({ budgetScenario })}
          />
        ) : null}
      </fieldset>
      <details open={hasSpecialFields(form)}>
        <summary>Convergence and other fields</summary>
        <TextField
          location="?convergence"
          label="Convergence"
          isNumber
          hint="Fraction of the gap to the intensity of the industry that closes by 2050, above 0 to 1. Needs revenue in USD with a price year, and emissions in t CO2e. Blank: not applied."
          value={form.convergence}
          onInput={(convergence) => edit({ convergence })}
        />
        <TextField
          location={`${BASELINE}/financials/currency`}
          label="Currency of the revenue"
          hint="ISO 4217 code, such as USD."
          value={baseline.currency}
          onInput={(currency) => editBaseline({ currency })}
        />
        <TextField
          location={`${BASELINE}/financials/price_year`}
          label="Price year of the revenue"
          isNumber
          hint="2015 to 2024."
          value={baseline.priceYear}
          onInput={(priceYear) => editBaseline({ priceYear })}
        />
        <TextField
          location={`${BASELINE}/financials/ebitda`}
          label="EBITDA of the baseline year"
          isNumber
          hint="Part of the request, but not used by the method."
          value={baseline.ebitda}
          onInput={(ebitda) => editBaseline({ ebitda })}
        />
        <TextField
          location="/0/entity_info/industry_classification_system"
          label="Classification system"
          hint="Such as gics, nace, naics or isic. Decides what a code without a prefix means."
          value={form.classification}
          onInput={(classification) => edit({ classification })}
        />
      </details>
    </>
  );
}

function hasSpecialFields({ convergence, baseline }: AlignmentForm): boolean {
  return [convergence, baseline.currency, baseline.priceYear, baseline.ebitda].some((text) => text !== "");
}
