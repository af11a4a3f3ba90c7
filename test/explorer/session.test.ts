import { describe, expect, test } from "vitest";
import {
  forgetCredentials,
  hasCredentials,
  keepCredentials,
  type SessionPage,
  takeCredentials,
} from "../../src/explorer/session.ts";

const CREDENTIALS = { apiKey: "iso_sk_1+/=", customerId: "9f1d1b1e-6a43-4b7e-8f0c-2d3e4f5a6b7c" };
const USED = { used: CREDENTIALS, offered: undefined };
const NONE = { used: undefined, offered: undefined };
const FRAGMENT = `key=${encodeURIComponent(CREDENTIALS.apiKey)}&customer=${CREDENTIALS.customerId}`;

/** A tab with an address and an empty session storage. */
function openTab(hash: string, { hasStorage = true } = {}) {
  const stored = new Map<string, string>();
  const addresses: string[] = [];
  const storage = (): Map<string, string> => {
    if (!hasStorage) throw new Error("storage is disabled");
    return stored;
  };
  const location = { hash, pathname: "/climate/", search: "?a=1" };
  const page: SessionPage = {
    location,
    history: {
      state: null,
      replaceState(_state, _title, url) {
        addresses.push(url);
        location.hash = url.includes("#") ? url.slice(url.indexOf("#")) : "";
      },
    },
    sessionStorage: {
      getItem: (name) => storage().get(name) ?? null,
      setItem: (name, value) => void storage().set(name, value),
      removeItem: (name) => void storage().delete(name),
    },
  };
  return { page, addresses, stored };
}

describe("takeCredentials", () => {
  test("removes the key from the address at once and keeps it in the tab", () => {
    const { page, addresses } = openTab(`#${FRAGMENT}`);
    expect(hasCredentials(page)).toBe(true);
    expect(takeCredentials(page)).toStrictEqual(USED);
    expect(addresses).toStrictEqual(["/climate/?a=1"]);
    expect(hasCredentials(page)).toBe(false);
    expect(takeCredentials(page)).toStrictEqual(USED);
    expect(addresses).toHaveLength(1);
  });

  test("keeps the other parameters of the fragment", () => {
    const { page, addresses } = openTab(`#view=places&${FRAGMENT}&year=2030`);
    takeCredentials(page);
    expect(addresses).toStrictEqual(["/climate/?a=1#view=places&year=2030"]);
  });

  test.each([`#key=${CREDENTIALS.apiKey}`, `#customer=${CREDENTIALS.customerId}`])(
    "removes %s from the address also without the other",
    (hash) => {
      const { page, addresses, stored } = openTab(hash);
      expect(takeCredentials(page)).toStrictEqual(NONE);
      expect(addresses).toStrictEqual(["/climate/?a=1"]);
      expect(stored.size).toBe(0);
    },
  );

  test("keeps the key of the tab, and offers that of a link", () => {
    const { page, addresses, stored } = openTab(`#view=places&${FRAGMENT}`);
    const others = { apiKey: "iso_sk_2", customerId: CREDENTIALS.customerId };
    keepCredentials(page, others);
    expect(takeCredentials(page)).toStrictEqual({ used: others, offered: CREDENTIALS });
    expect(addresses).toStrictEqual(["/climate/?a=1#view=places"]);
    expect([...stored.values()].join()).not.toContain(CREDENTIALS.apiKey);
    expect(takeCredentials(page)).toStrictEqual({ used: others, offered: undefined });
  });

  test("keeps the customer of the tab as well", () => {
    const { page } = openTab(`#${FRAGMENT}`);
    const others = { apiKey: CREDENTIALS.apiKey, customerId: "11111111-6a43-4b7e-8f0c-2d3e4f5a6b7c" };
    keepCredentials(page, others);
    expect(takeCredentials(page)).toStrictEqual({ used: others, offered: CREDENTIALS });
  });

  test("keeps the key that the page uses also if the browser has disabled the storage", () => {
    const { page } = openTab(`#${FRAGMENT}`, { hasStorage: false });
    const others = { apiKey: "iso_sk_2", customerId: CREDENTIALS.customerId };
    expect(takeCredentials(page, others)).toStrictEqual({ used: others, offered: CREDENTIALS });
  });

  test("offers nothing if the link has the key of the tab", () => {
    const { page } = openTab(`#${FRAGMENT}`);
    keepCredentials(page, { ...CREDENTIALS });
    expect(takeCredentials(page)).toStrictEqual(USED);
  });

  test("returns the credentials of the fragment also if the browser has disabled the storage", () => {
    const { page } = openTab(`#${FRAGMENT}`, { hasStorage: false });
    expect(takeCredentials(page)).toStrictEqual(USED);
    expect(takeCredentials(page)).toStrictEqual(NONE);
    expect(() => forgetCredentials(page)).not.toThrow();
  });

  test.each(["", "{", "null", "[]", '{"apiKey":1,"customerId":"x"}', '{"apiKey":"x"}'])(
    "ignores a stored %s",
    (value) => {
      const { page, stored } = openTab("");
      keepCredentials(page, CREDENTIALS);
      const [name = ""] = stored.keys();
      stored.set(name, value);
      expect(takeCredentials(page)).toStrictEqual(NONE);
    },
  );
});

test("forgets what it kept", () => {
  const { page, stored } = openTab("");
  keepCredentials(page, CREDENTIALS);
  expect(takeCredentials(page)).toStrictEqual(USED);
  forgetCredentials(page);
  expect(takeCredentials(page)).toStrictEqual(NONE);
  expect(stored.size).toBe(0);
});
