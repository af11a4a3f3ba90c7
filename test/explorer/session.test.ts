import { describe, expect, test } from "vitest";
import {
  forgetCredentials,
  hasCredentials,
  keepCredentials,
  type SessionPage,
  takeCredentials,
} from "../../src/explorer/session.ts";

const CREDENTIALS = { apiKey: "iso_sk_1+/=", customerId: "9f1d1b1e-6a43-4b7e-8f0c-2d3e4f5a6b7c" };
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
    expect(takeCredentials(page)).toStrictEqual(CREDENTIALS);
    expect(addresses).toStrictEqual(["/climate/?a=1"]);
    expect(hasCredentials(page)).toBe(false);
    expect(takeCredentials(page)).toStrictEqual(CREDENTIALS);
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
      expect(takeCredentials(page)).toBeUndefined();
      expect(addresses).toStrictEqual(["/climate/?a=1"]);
      expect(stored.size).toBe(0);
    },
  );

  test("returns the credentials of the fragment also if the browser has disabled the storage", () => {
    const { page } = openTab(`#${FRAGMENT}`, { hasStorage: false });
    expect(takeCredentials(page)).toStrictEqual(CREDENTIALS);
    expect(takeCredentials(page)).toBeUndefined();
    expect(() => forgetCredentials(page)).not.toThrow();
  });

  test.each(["", "{", "null", "[]", '{"apiKey":1,"customerId":"x"}', '{"apiKey":"x"}'])(
    "ignores a stored %s",
    (value) => {
      const { page, stored } = openTab("");
      keepCredentials(page, CREDENTIALS);
      const [name = ""] = stored.keys();
      stored.set(name, value);
      expect(takeCredentials(page)).toBeUndefined();
    },
  );
});

test("forgets what it kept", () => {
  const { page, stored } = openTab("");
  keepCredentials(page, CREDENTIALS);
  expect(takeCredentials(page)).toStrictEqual(CREDENTIALS);
  forgetCredentials(page);
  expect(takeCredentials(page)).toBeUndefined();
  expect(stored.size).toBe(0);
});
