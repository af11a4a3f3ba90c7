/** What the forms of both company views ask for. */
import { useExplorer } from "../context.ts";
import { Suggestions, TextField } from "./fields.tsx";
import { useReference } from "./useReference.ts";

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
