/** The form of the climate-risk view: the company, its reported emissions, and the assumptions of the method. */
import { useContext } from "preact/hooks";
import { DAMAGE_FUNCTIONS, PRICE_MODEL_IDS } from "../../contract/names.ts";
import type { CompanyAnswer, CompanyAssumptions, ReferenceScenario } from "../../contract/wireTypes.ts";
import {
  CheckField,
  ChoiceField,
  type CompanyNames,
  FaultItems,
  FieldErrors,
  IdentityFields,
  itemsWithin,
  TextField,
} from "./fields.tsx";
import { formatAmount, transitionScenarioTitle } from "./companyFormat.ts";
import {
  ASSUMPTION_NAMES,
  ASSUMPTION_NOTES,
  EMISSION_NAMES,
  type EmissionName,
  type FigureName,
  markMeaning,
  type RiskForm,
} from "./riskForm.ts";

const MONEY = "USD of 2025";

const EMISSION_LABELS: Readonly<Record<EmissionName, string>> = {
  scope1: "Scope 1",
  scope2: "Scope 2",
  scope3: "Scope 3 in total",
  scope3_upstream: "Scope 3, upstream",
  scope3_downstream: "Scope 3, downstream",
};

const DAMAGE_NAMES: Readonly<Record<(typeof DAMAGE_FUNCTIONS)[number], string>> = {
  ngfs4: "NGFS Phase IV level (ngfs4)",
  kalkuhl_wenz: "Kalkuhl and Wenz 2020",
  howard_sterner: "Howard and Sterner 2017",
  dice2016: "DICE 2016",
  ngfs5_kotz: "NGFS Phase V (source retracted)",
};

const MODEL_NAMES: Readonly<Record<(typeof PRICE_MODEL_IDS)[number], string>> = {
  remind: "REMIND-MAgPIE",
  messageix: "MESSAGEix (to 2060)",
  gcam: "GCAM (to 2060)",
};

interface FormProps {
  readonly form: RiskForm;
  readonly edit: (change: Partial<RiskForm>) => void;
  /** Names to suggest. */
  readonly names: CompanyNames;
  readonly scenarios: readonly ReferenceScenario[];
  /** The latest answer, which names what was estimated and assumed. */
  readonly answer: CompanyAnswer | undefined;
}

export function ClimateRiskForm({ form, edit, names, scenarios, answer }: FormProps) {
  const figure = (name: FigureName, label: string, hint: string) => (
    <TextField
      location={`/${name}`}
      label={label}
      isNumber
      isRequired={name === "revenue"}
      hint={estimatedHint(name, answer) ?? hint}
      value={form[name]}
      onInput={(value) => edit({ [name]: value })}
    />
  );
  return (
    <>
      <fieldset>
        <legend>Company</legend>
        <IdentityFields
          location=""
          form={form}
          edit={edit}
          names={names}
          requiresAll
          industryHint="Name, or a code such as ISIC 2410, NACE 24.10 or NAICS 331110."
        />
        {figure("revenue", "Revenue", `${MONEY} per year`)}
        {figure("total_assets", "Total assets", `${MONEY}. Blank: estimated.`)}
        {figure("ebitda", "EBITDA", `${MONEY} per year. Blank: estimated.`)}
        {figure("total_debt", "Total debt", `${MONEY}. Blank: estimated.`)}
      </fieldset>
      <ScenarioFields form={form} edit={edit} scenarios={scenarios} />
      <details open={EMISSION_NAMES.some((name) => form[name] !== "")}>
        <summary>Reported emissions</summary>
        <p class="hint">t CO2e per year. Blank: modeled from industry, country and revenue.</p>
        {EMISSION_NAMES.map((name) => (
          <TextField
            key={name}
            location={`/${name}`}
            label={EMISSION_LABELS[name]}
            isNumber
            value={form[name]}
            onInput={(value) => edit({ [name]: value })}
          />
        ))}
      </details>
      <AssumptionFields form={form} edit={edit} answer={answer} />
      <details open={[form.total_liabilities, form.exposure, form.pd].some((text) => text !== "")}>
        <summary>Credit</summary>
        {figure(
          "total_liabilities",
          "Total liabilities of a bank or insurer",
          `${MONEY}. Needed for its five-year probability of default.`,
        )}
        {figure("exposure", "Exposure at default", `${MONEY}. Adds expected losses in USD.`)}
        {figure("pd", "Known probability of default within one year", "0 to 1. Replaces that of the model.")}
      </details>
    </>
  );
}

function estimatedHint(name: FigureName, answer: CompanyAnswer | undefined): string | undefined {
  const figures = answer?.company.figures;
  const estimated = figures?.estimated.find((member) => member === name);
  if (figures === undefined || estimated === undefined) return undefined;
  return `Estimated: ${formatAmount(figures[estimated])} ${MONEY}, normal for the industry.`;
}

function ScenarioFields({ form, edit, scenarios }: Pick<FormProps, "form" | "edit" | "scenarios">) {
  const items = useContext(FaultItems);
  const families = [...new Set(scenarios.map(({ family }) => family))];
  const toggle = (id: string, isChosen: boolean): void =>
    edit({ scenarios: isChosen ? [...form.scenarios, id] : form.scenarios.filter((other) => other !== id) });
  return (
    <fieldset>
      <legend>Scenarios and years</legend>
      <div role="group" aria-labelledby="risk-scenarios">
        <p id="risk-scenarios" class="group-label">
          Scenarios, side by side in the order chosen
        </p>
        {families.length === 0 ? <p class="hint">{form.scenarios.map(transitionScenarioTitle).join(", ")}</p> : null}
        {families.map((family) => (
          <details
            key={family}
            open={scenarios.some((scenario) => scenario.family === family && form.scenarios.includes(scenario.id))}
          >
            <summary>{family === "NGFS" ? "NGFS, Phase 5" : "IPCC, AR6"}</summary>
            {scenarios
              .filter((scenario) => scenario.family === family)
              .map(({ id, narrative }) => (
                <CheckField
                  key={id}
                  label={
                    <>
                      {transitionScenarioTitle(id)}{" "}
                      <span class="hint">
                        <code>{id}</code> {narrative}
                      </span>
                    </>
                  }
                  isChecked={form.scenarios.includes(id)}
                  onChange={(isChosen) => toggle(id, isChosen)}
                />
              ))}
          </details>
        ))}
        <FieldErrors id="risk-scenarios-error" items={itemsWithin(items, "/transition_scenarios")} />
      </div>
      <TextField
        location="/assessment_years"
        label="Years"
        hint="2025 to 2100, separated by commas."
        value={form.years}
        onInput={(years) => edit({ years })}
      />
      <FieldErrors
        id="risk-years-error"
        items={items.filter(({ pointer }) => pointer?.startsWith("/assessment_years/") === true)}
      />
    </fieldset>
  );
}

function AssumptionFields({ form, edit, answer }: Pick<FormProps, "form" | "edit" | "answer">) {
  return (
    <fieldset>
      <legend>Assumptions</legend>
      <p class="hint">
        Blank: the default of the method. Marks:{" "}
        {["P", "M", "D", "J"].map((mark) => `${mark} ${markMeaning(mark)}`).join("; ")}.
      </p>
      {ASSUMPTION_NAMES.map((name) => (
        <TextField
          key={name}
          location={`/assumptions/${name}`}
          label={ASSUMPTION_NOTES[name].label}
          isNumber
          hint={<AssumptionHint name={name} isDefault={form[name].trim() === ""} answer={answer} />}
          placeholder={form[name].trim() === "" ? placeholderOf(name, answer) : undefined}
          value={form[name]}
          onInput={(value) => edit({ [name]: value })}
        />
      ))}
      <TextField
        location="/lgd"
        label={ASSUMPTION_NOTES.lgd.label}
        isNumber
        hint={<AssumptionHint name="lgd" isDefault={form.lgd.trim() === ""} answer={answer} />}
        placeholder={form.lgd.trim() === "" ? placeholderOf("lgd", answer) : undefined}
        value={form.lgd}
        onInput={(lgd) => edit({ lgd })}
      />
      <ChoiceField
        location="/damage_function"
        label={ASSUMPTION_NOTES.damage_function.label}
        value={form.damageFunction}
        choices={[
          { value: "", name: "Default" },
          ...DAMAGE_FUNCTIONS.map((value) => ({ value, name: DAMAGE_NAMES[value] })),
        ]}
        onChange={(damageFunction) => edit({ damageFunction })}
        hint={<AssumptionHint name="damage_function" isDefault={form.damageFunction === ""} answer={answer} />}
      />
      <ChoiceField
        location="/iam"
        label={ASSUMPTION_NOTES.iam.label}
        value={form.iam}
        choices={[
          { value: "", name: "Default" },
          ...PRICE_MODEL_IDS.map((value) => ({ value, name: MODEL_NAMES[value] })),
        ]}
        onChange={(iam) => edit({ iam })}
        hint={<AssumptionHint name="iam" isDefault={form.iam === ""} answer={answer} />}
      />
    </fieldset>
  );
}

function placeholderOf(name: keyof CompanyAssumptions, answer: CompanyAnswer | undefined): string | undefined {
  const value = answer?.assumptions[name];
  if (value === undefined) return undefined;
  return value === null ? "by industry and year" : String(value);
}

interface HintProps {
  readonly name: keyof CompanyAssumptions;
  readonly isDefault: boolean;
  readonly answer: CompanyAnswer | undefined;
}

/** Unit, and where the value comes from. */
function AssumptionHint({ name, isDefault, answer }: HintProps) {
  const { unit, source, mark } = ASSUMPTION_NOTES[name];
  if (!isDefault) return <>{unit}. Given by you.</>;
  const value = placeholderOf(name, answer);
  return (
    <>
      {unit}. Default{value === undefined ? "" : ` ${value}`}: {source} <abbr title={markMeaning(mark)}>[{mark}]</abbr>
    </>
  );
}
