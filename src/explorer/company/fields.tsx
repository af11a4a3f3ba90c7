/** Labeled form fields that show the errors of the API where they belong. */
import { type ComponentChildren, createContext } from "preact";
import { useContext } from "preact/hooks";
import type { ProblemItem } from "../../contract/wireTypes.ts";
import { useExplorer } from "../context.ts";
import { useReference } from "./companyHooks.ts";

/** Errors of the latest request. */
export const FaultItems = createContext<readonly ProblemItem[]>([]);

/** Returns where an error is: the JSON pointer of a value, or `?` and the name of a query parameter. */
function locationOf({ pointer, parameter }: ProblemItem): string {
  return pointer ?? `?${parameter ?? ""}`;
}

/** Returns the errors at a location. */
function itemsAt(items: readonly ProblemItem[], location: string): readonly ProblemItem[] {
  return items.filter((item) => locationOf(item) === location);
}

/** Returns the errors at a location and inside it. */
export function itemsWithin(items: readonly ProblemItem[], location: string): readonly ProblemItem[] {
  return items.filter((item) => locationOf(item) === location || locationOf(item).startsWith(`${location}/`));
}

function fieldId(location: string): string {
  return `field${location.replaceAll(/[^A-Za-z0-9_]/g, "-")}`;
}

/** Moves the focus to a field, because the button that changed its value disappears. */
export function focusField(location: string): void {
  document.querySelector<HTMLElement>(`#${fieldId(location)}`)?.focus();
}

interface FieldProps {
  readonly location: string;
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  /** Unit, or what is accepted. */
  readonly hint?: ComponentChildren;
  /** Id of a list of suggestions. */
  readonly list?: string;
  readonly isNumber?: boolean;
  readonly isRequired?: boolean;
  readonly placeholder?: string | undefined;
}

/** A text field with its label, hint and errors. */
export function TextField({
  location,
  label,
  value,
  onInput,
  hint,
  list,
  isNumber,
  isRequired,
  placeholder,
}: FieldProps) {
  const id = fieldId(location);
  const items = itemsAt(useContext(FaultItems), location);
  const describedBy = [hint === undefined ? "" : `${id}-hint`, items.length === 0 ? "" : `${id}-error`]
    .join(" ")
    .trim();
  return (
    <div class="field">
      <label for={id}>
        {label}
        {isRequired === true ? <span class="required"> (required)</span> : null}
      </label>
      <input
        id={id}
        type="text"
        list={list}
        inputMode={isNumber === true ? "decimal" : "text"}
        class={isNumber === true ? "number" : undefined}
        autocomplete="off"
        spellcheck={false}
        placeholder={placeholder}
        value={value}
        aria-invalid={items.length > 0}
        aria-describedby={describedBy === "" ? undefined : describedBy}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {hint === undefined ? null : (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
      <FieldErrors
        id={`${id}-error`}
        items={items}
        onUse={(suggestion) => {
          onInput(suggestion);
          focusField(location);
        }}
      />
    </div>
  );
}

interface CellProps {
  readonly location: string;
  /** Name of the field for assistive technology. */
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  /** Id of the errors of the row. */
  readonly errorId: string;
  readonly isText?: boolean;
}

/** A text field in the cell of a table. The errors of all cells of a row are shown below the row. */
export function CellField({ location, label, value, onInput, errorId, isText }: CellProps) {
  const isFaulty = itemsAt(useContext(FaultItems), location).length > 0;
  return (
    <input
      id={fieldId(location)}
      type="text"
      inputMode={isText === true ? "text" : "decimal"}
      class={isText === true ? undefined : "number"}
      autocomplete="off"
      spellcheck={false}
      aria-label={label}
      aria-invalid={isFaulty}
      aria-describedby={isFaulty ? errorId : undefined}
      value={value}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  );
}

interface ChoiceProps<Name extends string> {
  readonly location: string;
  readonly label: string;
  readonly value: Name;
  readonly choices: readonly { readonly value: Name; readonly name: string }[];
  readonly onChange: (value: Name) => void;
  readonly hint?: ComponentChildren;
}

/** A list to choose from, with its label, hint and errors. */
export function ChoiceField<Name extends string>({
  location,
  label,
  value,
  choices,
  onChange,
  hint,
}: ChoiceProps<Name>) {
  const id = fieldId(location);
  const items = itemsAt(useContext(FaultItems), location);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        aria-invalid={items.length > 0}
        aria-describedby={items.length > 0 ? `${id}-error` : undefined}
        onChange={(event) => {
          const chosen = choices.find((choice) => choice.value === event.currentTarget.value);
          if (chosen !== undefined) onChange(chosen.value);
        }}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.name}
          </option>
        ))}
      </select>
      {hint === undefined ? null : <p class="hint">{hint}</p>}
      <FieldErrors id={`${id}-error`} items={items} />
    </div>
  );
}

interface CheckProps {
  readonly label: ComponentChildren;
  readonly isChecked: boolean;
  readonly onChange: (isChecked: boolean) => void;
}

export function CheckField({ label, isChecked, onChange }: CheckProps) {
  return (
    <label class="company-check">
      <input type="checkbox" checked={isChecked} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span>{label}</span>
    </label>
  );
}

interface FieldErrorsProps {
  readonly id: string;
  readonly items: readonly ProblemItem[];
  /** Replaces the value of the field by a suggestion. */
  readonly onUse?: (value: string) => void;
}

export function FieldErrors({ id, items, onUse }: FieldErrorsProps) {
  if (items.length === 0) return null;
  return (
    <ul id={id} class="field-errors">
      {items.map((item) => (
        <li key={item.detail}>
          {item.detail}{" "}
          {onUse === undefined
            ? null
            : suggestionsOf(item).map((name) => (
                <button key={name} type="button" onClick={() => onUse(name)}>
                  Use “{name}”
                </button>
              ))}
        </li>
      ))}
    </ul>
  );
}

/** Returns what was probably meant, or the names that are most similar. */
function suggestionsOf({ did_you_mean, nearest = [] }: ProblemItem): readonly string[] {
  return did_you_mean === undefined ? nearest : [String(did_you_mean)];
}

/** Suggestions for text fields. */
export function Suggestions({ id, names }: { readonly id: string; readonly names: readonly string[] }) {
  return (
    <datalist id={id}>
      {names.map((name) => (
        <option key={name} value={name} />
      ))}
    </datalist>
  );
}

/** Names that the methods recognize, to suggest. Empty until they are loaded. */
export interface CompanyNames {
  readonly countries: readonly string[];
  readonly industries: readonly string[];
  readonly sectors: readonly string[];
}

export function useCompanyNames(): CompanyNames {
  const { data } = useExplorer();
  const industries = useReference((signal) => data.industries(signal))?.items ?? [];
  const countries = useReference((signal) => data.countries(signal))?.items ?? [];
  return {
    countries: countries.map(({ name }) => name),
    industries: industries.flatMap(({ name, aliases }) => [name, ...aliases]),
    sectors: [...new Set(industries.map(({ sector }) => sector))],
  };
}

/** Name, country and industry of a company, as typed. */
interface CompanyIdentity {
  readonly name: string;
  readonly country: string;
  readonly industry: string;
}

interface IdentityProps {
  /** JSON pointer of the object that has the members. */
  readonly location: string;
  readonly form: CompanyIdentity;
  readonly edit: (change: Partial<CompanyIdentity>) => void;
  readonly names: CompanyNames;
  /** Whether country and industry are required; the name always is. */
  readonly requiresAll: boolean;
  readonly countryHint?: string;
  readonly industryHint: string;
}

export function IdentityFields({ location, form, edit, names, requiresAll, countryHint, industryHint }: IdentityProps) {
  return (
    <>
      <TextField
        location={`${location}/name`}
        label="Name"
        isRequired
        value={form.name}
        onInput={(name) => edit({ name })}
      />
      <TextField
        location={`${location}/country`}
        label="Country"
        isRequired={requiresAll}
        {...(countryHint === undefined ? {} : { hint: countryHint })}
        list="company-countries"
        value={form.country}
        onInput={(country) => edit({ country })}
      />
      <TextField
        location={`${location}/industry`}
        label="Industry"
        isRequired={requiresAll}
        hint={industryHint}
        list="company-industries"
        value={form.industry}
        onInput={(industry) => edit({ industry })}
      />
      <Suggestions id="company-countries" names={names.countries} />
      <Suggestions id="company-industries" names={names.industries} />
    </>
  );
}
