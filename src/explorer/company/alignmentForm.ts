/** The form of the alignment view, and the request of a form. */
import { ALIGNMENT_BASES, ALIGNMENT_INCLUDES, BENCHMARK_IDS, BUDGET_SCENARIOS } from "../../contract/names.ts";
import type {
  AlignmentBasis,
  AlignmentInclude,
  AlignmentParameters,
  AlignmentRequest,
  BudgetScenario,
  ProblemItem,
} from "../../contract/wireTypes.ts";
import { encodeForm, FormReader, NUMBER_TEXT_EXPECTED, parseNumberText, quoteText, withoutBlanks } from "./formText.ts";

/** Emissions and revenue of a year, as typed. */
interface YearText {
  readonly year: string;
  readonly scope1: string;
  readonly scope2: string;
  readonly scope3: string;
  readonly revenue: string;
}

export interface BaselineText extends YearText {
  readonly ebitda: string;
  readonly currency: string;
  readonly priceYear: string;
}

export interface ProjectionText extends YearText {
  readonly label: string;
  readonly probability: string;
}

/** The form as typed. Blank texts are absent from the request. */
export interface AlignmentForm {
  readonly name: string;
  readonly country: string;
  readonly classification: string;
  readonly industry: string;
  readonly sector: string;
  readonly baseline: BaselineText;
  readonly projections: readonly ProjectionText[];
  readonly basis: AlignmentBasis;
  readonly benchmark: (typeof BENCHMARK_IDS)[number];
  readonly include: readonly AlignmentInclude[];
  readonly budgetScenario: BudgetScenario;
  readonly convergence: string;
}

/** Names of the text members of the form, in the order of the form. */
const ENTITY_MEMBERS = ["name", "country", "industry", "sector", "classification"] as const;
export const SCOPES = ["scope1", "scope2", "scope3"] as const;
const BASELINE_MEMBERS = ["year", ...SCOPES, "revenue", "ebitda", "currency", "priceYear"] as const;
const PROJECTION_MEMBERS = ["year", ...SCOPES, "revenue", "label", "probability"] as const;

export const EMPTY_PROJECTION: ProjectionText = {
  year: "",
  scope1: "",
  scope2: "",
  scope3: "",
  revenue: "",
  label: "",
  probability: "",
};

const projection = (year: string, [scope1, scope2, scope3]: readonly [string, string, string]): ProjectionText => ({
  ...EMPTY_PROJECTION,
  year,
  scope1,
  scope2,
  scope3,
});

/** A company that does not exist. Its emissions are in t CO2e. */
export const EXAMPLE_ALIGNMENT: AlignmentForm = {
  name: "Example Steel AG",
  country: "Germany",
  classification: "gics",
  industry: "Steel",
  sector: "Materials",
  baseline: {
    year: "2023",
    scope1: "500000",
    scope2: "300000",
    scope3: "1000000",
    revenue: "1000000000",
    ebitda: "",
    currency: "",
    priceYear: "",
  },
  projections: [
    projection("2030", ["400000", "200000", "900000"]),
    projection("2035", ["320000", "130000", "760000"]),
    projection("2040", ["230000", "90000", "620000"]),
    projection("2045", ["160000", "65000", "500000"]),
    projection("2050", ["100000", "50000", "400000"]),
  ],
  basis: "intensity",
  benchmark: BENCHMARK_IDS[0],
  include: ["overall", "climate_range", "by_scope"],
  budgetScenario: "net_zero_2050",
  convergence: "",
};

export type AlignmentCall =
  | { readonly request: AlignmentRequest; readonly parameters: AlignmentParameters; readonly items?: never }
  /** Texts that are not numbers. */
  | { readonly items: readonly ProblemItem[]; readonly request?: never; readonly parameters?: never };

/**
 * Returns the request of a form, or the texts that are not numbers. Everything else is checked by the API, which names the
 * value by its pointer.
 */
export function alignmentCallOf(form: AlignmentForm): AlignmentCall {
  const items: ProblemItem[] = [];
  const number = (
    text: string,
    location: { readonly pointer: string } | { readonly parameter: string },
    name: string,
  ) => {
    if (text.trim() === "") return undefined;
    const value = parseNumberText(text);
    if (value === undefined) {
      items.push({
        ...location,
        code: "wrong_type",
        detail: `${name} ${NUMBER_TEXT_EXPECTED} (got ${quoteText(text)}).`,
      });
    }
    return value;
  };
  const emissions = (row: YearText, pointer: string) =>
    present(
      Object.fromEntries(
        SCOPES.map((scope) => [scope, number(row[scope], { pointer: `${pointer}/emissions/${scope}` }, scope)]),
      ),
    );
  const { baseline, projections } = form;
  const entity = {
    entity_info: withoutBlanks({
      name: form.name.trim(),
      asset_type: "equity",
      country: form.country.trim(),
      industry_classification_system: form.classification.trim(),
      industry: form.industry.trim(),
      sector: form.sector.trim(),
    }),
    data: [
      present({
        year: number(baseline.year, { pointer: "/0/data/0/year" }, "year"),
        emissions: emissions(baseline, "/0/data/0"),
        financials: unlessEmpty({
          revenue: number(baseline.revenue, { pointer: "/0/data/0/financials/revenue" }, "revenue"),
          ebitda: number(baseline.ebitda, { pointer: "/0/data/0/financials/ebitda" }, "ebitda"),
          currency: blankToAbsent(baseline.currency),
          price_year: number(baseline.priceYear, { pointer: "/0/data/0/financials/price_year" }, "price_year"),
        }),
      }),
    ],
    projected_emissions: projections.map((row, index) => {
      const pointer = `/0/projected_emissions/${index}`;
      return present({
        year: number(row.year, { pointer: `${pointer}/year` }, "year"),
        emissions: emissions(row, pointer),
        financials: unlessEmpty({
          revenue: number(row.revenue, { pointer: `${pointer}/financials/revenue` }, "revenue"),
        }),
        label: blankToAbsent(row.label),
        probability: number(row.probability, { pointer: `${pointer}/probability` }, "probability"),
      });
    }),
  };
  const convergence = number(form.convergence, { parameter: "convergence" }, "convergence");
  if (items.length > 0) return { items };
  const parameters = {
    basis: form.basis,
    benchmark: form.benchmark,
    ...(form.include.length === 0 ? {} : { include: form.include }),
    // Naming a scenario adds the budget to the results.
    ...(form.include.includes("budget") ? { budget_scenario: form.budgetScenario } : {}),
    ...(convergence === undefined ? {} : { convergence }),
  };
  // The API checks the shape: blank members are absent, also those that it requires.
  return { request: [entity] as unknown as AlignmentRequest, parameters };
}

/** Whether the records have labels or probabilities, i.e. form several projections. */
export function hasLabels({ projections }: AlignmentForm): boolean {
  return projections.some(({ label, probability }) => label !== "" || probability !== "");
}

/** Returns the form as text for the permalink; undefined for the example. */
export function encodeAlignmentForm(form: AlignmentForm): string | undefined {
  const text = formText(form);
  return text === formText(EXAMPLE_ALIGNMENT) ? undefined : text;
}

function formText(form: AlignmentForm): string {
  return encodeForm({
    ...form,
    baseline: withoutBlanks({ ...form.baseline }),
    projections: form.projections.map((row) => withoutBlanks({ ...row })),
  });
}

/** Reads the text of a permalink. Returns undefined if it is not such a text. */
export function decodeAlignmentForm(text: string): AlignmentForm | undefined {
  const reader = FormReader.parse(text);
  const rows = reader?.objects("projections");
  if (reader === undefined || rows === undefined) return undefined;
  const baseline = reader.object("baseline");
  return {
    ...textsOf(reader, ENTITY_MEMBERS),
    baseline: textsOf(baseline, BASELINE_MEMBERS),
    projections: rows.map((row) => textsOf(row, PROJECTION_MEMBERS)),
    basis: reader.choice("basis", ALIGNMENT_BASES, "intensity"),
    benchmark: reader.choice("benchmark", BENCHMARK_IDS, BENCHMARK_IDS[0]),
    include: reader.choices("include", ALIGNMENT_INCLUDES) ?? [],
    budgetScenario: reader.choice("budgetScenario", BUDGET_SCENARIOS, "net_zero_2050"),
    convergence: reader.text("convergence"),
  };
}

function textsOf<Name extends string>(reader: FormReader, names: readonly Name[]): Record<Name, string> {
  return Object.fromEntries(names.map((name) => [name, reader.text(name)])) as Record<Name, string>;
}

/** Returns the members that are not undefined. */
function present(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function unlessEmpty(members: Readonly<Record<string, unknown>>): Record<string, unknown> | undefined {
  const given = present(members);
  return Object.keys(given).length === 0 ? undefined : given;
}

function blankToAbsent(text: string): string | undefined {
  return text.trim() === "" ? undefined : text.trim();
}
