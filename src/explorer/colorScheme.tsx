import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

const SCHEMES = { "light dark": "System", light: "Light", dark: "Dark" } as const;
type Scheme = keyof typeof SCHEMES;

/** Follows the color scheme of the system until the user chooses one, for as long as the page is open. */
export function ColorSchemeSwitch() {
  const scheme = useSignal<Scheme>("light dark");
  useEffect(() => {
    document.documentElement.style.colorScheme = scheme.value;
  }, [scheme.value]);
  return (
    <label class="color-scheme">
      <span class="visually-hidden">Colors of the page</span>
      <select value={scheme.value} onChange={({ currentTarget }) => (scheme.value = currentTarget.value as Scheme)}>
        {Object.entries(SCHEMES).map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
