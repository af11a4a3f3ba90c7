/**
 * API key and customer of the tab. They come from the fragment of the address, `#key=...&customer=...`, or from a form. They
 * are kept in the session storage of the tab, which ends with it, and never in the address, in cookies or in local storage.
 */

export interface Credentials {
  readonly apiKey: string;
  /** UUID of the customer that requests are attributed to. */
  readonly customerId: string;
}

/** The parts of `window` that a session uses. */
export interface SessionPage {
  readonly location: { readonly hash: string; readonly pathname: string; readonly search: string };
  readonly history: { readonly state: unknown; replaceState(state: unknown, title: string, url: string): void };
  readonly sessionStorage: Pick<Storage, "getItem" | "setItem" | "removeItem">;
}

const STORAGE_NAME = "isotherm.credentials";
const KEY_PARAMETER = "key";
const CUSTOMER_PARAMETER = "customer";

/** The credentials that a tab uses, and others that a link offers. */
export interface TabCredentials {
  /** Undefined if neither the tab nor the link has any. */
  readonly used: Credentials | undefined;
  /**
   * Those of the link if the tab has others. Only the user may replace the key of a tab: a link could otherwise attribute
   * the requests of the tab to the account of another person, who then sees its usage.
   */
  readonly offered: Credentials | undefined;
}

/**
 * Returns the credentials of the tab, or else those in the fragment, which are then kept. Removes the latter from the
 * address at once, and keeps the other parameters of the fragment.
 *
 * @param current credentials that the page already uses; by default, those that the tab has kept
 */
export function takeCredentials(page: SessionPage, current = storedCredentials(page)): TabCredentials {
  const linked = removeFromAddress(page);
  if (linked === undefined || isSame(linked, current)) return { used: current, offered: undefined };
  if (current !== undefined) return { used: current, offered: linked };
  keepCredentials(page, linked);
  return { used: linked, offered: undefined };
}

/** Returns the credentials in the fragment; undefined if one of the two is missing. */
function removeFromAddress(page: SessionPage): Credentials | undefined {
  const parameters = new URLSearchParams(page.location.hash.replace(/^#/, ""));
  const [apiKey, customerId] = [parameters.get(KEY_PARAMETER), parameters.get(CUSTOMER_PARAMETER)];
  if (apiKey === null && customerId === null) return undefined;
  parameters.delete(KEY_PARAMETER);
  parameters.delete(CUSTOMER_PARAMETER);
  const rest = parameters.toString();
  const { pathname, search } = page.location;
  page.history.replaceState(page.history.state, "", `${pathname}${search}${rest === "" ? "" : `#${rest}`}`);
  return apiKey === null || customerId === null ? undefined : { apiKey, customerId };
}

function isSame(a: Credentials, b: Credentials | undefined): boolean {
  return a.apiKey === b?.apiKey && a.customerId === b.customerId;
}

/** Returns whether the fragment has a key or a customer. */
export function hasCredentials({ location }: Pick<SessionPage, "location">): boolean {
  const parameters = new URLSearchParams(location.hash.replace(/^#/, ""));
  return parameters.has(KEY_PARAMETER) || parameters.has(CUSTOMER_PARAMETER);
}

/** Keeps credentials until the tab is closed. Without session storage, they are lost when the page is loaded again. */
export function keepCredentials(page: SessionPage, { apiKey, customerId }: Credentials): void {
  try {
    page.sessionStorage.setItem(STORAGE_NAME, JSON.stringify({ apiKey, customerId }));
  } catch {
    // The browser has disabled the storage, or it is full.
  }
}

export function forgetCredentials(page: SessionPage): void {
  try {
    page.sessionStorage.removeItem(STORAGE_NAME);
  } catch {
    // The browser has disabled the storage, so it contains nothing.
  }
}

function storedCredentials(page: SessionPage): Credentials | undefined {
  try {
    const stored: unknown = JSON.parse(page.sessionStorage.getItem(STORAGE_NAME) ?? "null");
    if (typeof stored !== "object" || stored === null) return undefined;
    const { apiKey, customerId } = stored as Partial<Record<keyof Credentials, unknown>>;
    return typeof apiKey === "string" && typeof customerId === "string" ? { apiKey, customerId } : undefined;
  } catch {
    return undefined;
  }
}
