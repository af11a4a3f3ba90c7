import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Customer } from "../../src/ledger/ledger.ts";
import { fault, type TestLedger } from "./testLedger.ts";

/** Number of rounds of concurrent registrations, each of one internal id. */
const RACE_COUNT = Number(process.env["ISOTHERM_RACES"] ?? 1);
const RACER_COUNT = 1000;

/** Tests of customers. */
export function describeCustomers(contract: TestLedger): void {
  const { withOther, newAccount } = contract;

  describe("customers", () => {
    test("are identified by internal id within an account, and are invisible to other accounts", async () => {
      const owner = await newAccount();
      const otherAccount = await newAccount();
      const repeated = await contract.ledger.registerCustomer({ accountId: owner.accountId, internalId: "first" });
      expect(repeated).toEqual({
        isNew: false,
        customer: {
          customerId: owner.customerId,
          accountId: owner.accountId,
          internalId: "first",
          createdAt: repeated.customer.createdAt,
        },
      });
      expect(otherAccount.customerId).not.toBe(owner.customerId);
      const ref = { accountId: otherAccount.accountId, customerId: owner.customerId };
      expect(await contract.ledger.findCustomer(ref)).toBeUndefined();
      expect(await contract.ledger.archiveCustomer(ref)).toBeUndefined();
      expect(
        await contract.ledger.findCustomer({ accountId: owner.accountId, customerId: randomUUID() }),
      ).toBeUndefined();
      expect(await contract.ledger.findCustomer({ ...owner })).toEqual(repeated.customer);
      const registration = { accountId: randomUUID(), internalId: "first" };
      await expect(contract.ledger.registerCustomer(registration)).rejects.toEqual(fault("account_not_found"));
    });

    test.each(["a ", "A", "ä", "a\u0308", "再", "🌊", "'; drop table customer; --", "%", "_", "x".repeat(200)])(
      "stores the internal id %j unchanged and distinguishes it from others",
      async (internalId) => {
        const { accountId, customerId } = await newAccount();
        const { customer, isNew } = await contract.ledger.registerCustomer({ accountId, internalId, name: internalId });
        expect(isNew).toBe(true);
        expect(customer).toMatchObject({ internalId, name: internalId });
        expect(customer.customerId).not.toBe(customerId);
        expect(await contract.ledger.findCustomer({ accountId, customerId: customer.customerId })).toEqual(customer);
      },
    );

    test.each(["", "x".repeat(201), "a\u0000b", "line\n", "\udc00"])(
      "rejects the internal id %j",
      async (internalId) => {
        const { accountId } = await newAccount();
        await expect(contract.ledger.registerCustomer({ accountId, internalId })).rejects.toEqual(
          fault("invalid_request", /internal_id/),
        );
      },
    );

    test("take the name of a later registration, and keep their name if that registration has none", async () => {
      const { accountId } = await newAccount();
      const otherAccount = await newAccount();
      const register = (name?: string) =>
        contract.ledger.registerCustomer({ accountId, internalId: "renamed", ...(name === undefined ? {} : { name }) });
      const { customer, isNew } = await register();
      expect([isNew, "name" in customer]).toStrictEqual([true, false]);
      await contract.ledger.registerCustomer({
        accountId: otherAccount.accountId,
        internalId: "renamed",
        name: "Theirs",
      });
      for (const [name, expectedName] of [
        ["Lisbon", "Lisbon"],
        [undefined, "Lisbon"],
        ["Lisbon", "Lisbon"],
        ["Zürich 再保険 🌊", "Zürich 再保険 🌊"],
      ] as const) {
        expect(await register(name)).toEqual({ isNew: false, customer: { ...customer, name: expectedName } });
        expect(await contract.ledger.findCustomer({ accountId, customerId: customer.customerId })).toMatchObject({
          name: expectedName,
        });
      }
      for (const name of ["", "x".repeat(201), "two\nlines", "\ud800"]) {
        await expect(register(name)).rejects.toEqual(fault("invalid_request", /name/));
      }
      const { items: otherItems } = await contract.ledger.listCustomers({
        accountId: otherAccount.accountId,
        limit: 10,
      });
      expect(otherItems.find(({ internalId }) => internalId === "renamed")).toMatchObject({ name: "Theirs" });
      expect(otherItems.find(({ internalId }) => internalId === "first")).not.toHaveProperty("name");
    });

    test("are created once by concurrent registrations with different names, each of which returns its own name", async () => {
      const { accountId } = await contract.ledger.createAccount({ name: "Names" });
      const names = Array.from({ length: 50 }, (_, i) => `name ${i}`);
      await withOther(async (other) => {
        const registrations = await Promise.all(
          names.map((name, i) =>
            (i % 2 === 0 ? contract.ledger : other).registerCustomer({ accountId, internalId: "raced", name }),
          ),
        );
        expect(registrations.map(({ customer }) => customer.name)).toStrictEqual(names);
        expect(new Set(registrations.map(({ customer }) => customer.customerId)).size).toBe(1);
        expect(registrations.filter(({ isNew }) => isNew)).toHaveLength(1);
      });
      const { items } = await contract.ledger.listCustomers({ accountId, limit: 10 });
      expect(items).toHaveLength(1);
      expect(names).toContain(items[0]?.name);
    });

    test("are not renamed once archived", async () => {
      const { accountId, customerId } = await newAccount();
      await contract.ledger.registerCustomer({ accountId, internalId: "first", name: "Before" });
      await contract.ledger.archiveCustomer({ accountId, customerId });
      await expect(contract.ledger.registerCustomer({ accountId, internalId: "first", name: "After" })).rejects.toEqual(
        fault("customer_archived"),
      );
      expect(await contract.ledger.findCustomer({ accountId, customerId })).toMatchObject({ name: "Before" });
    });

    test(`registers one customer for ${RACER_COUNT} concurrent registrations, ${RACE_COUNT} rounds`, async () => {
      const { accountId } = await contract.ledger.createAccount({ name: "Race" });
      await withOther(async (other) => {
        for (let round = 0; round < RACE_COUNT; round++) {
          const internalId = `round ${round}`;
          const registrations = await Promise.all(
            Array.from({ length: RACER_COUNT }, (_, i) =>
              (i % 2 === 0 ? contract.ledger : other).registerCustomer({ accountId, internalId }),
            ),
          );
          expect(new Set(registrations.map(({ customer }) => customer.customerId)).size).toBe(1);
          expect(registrations.filter(({ isNew }) => isNew)).toHaveLength(1);
        }
      });
      expect((await contract.ledger.listCustomers({ accountId, limit: 500 })).items).toHaveLength(RACE_COUNT);
    });

    test("can still be found after they are archived, but not registered again", async () => {
      const { accountId, customerId } = await newAccount();
      const archived = await contract.ledger.archiveCustomer({ accountId, customerId });
      expect(archived).toMatchObject({ customerId, archivedAt: expect.any(String) as string });
      contract.nowMs += 1000;
      expect(await contract.ledger.archiveCustomer({ accountId, customerId })).toEqual(archived);
      expect(await contract.ledger.findCustomer({ accountId, customerId })).toEqual(archived);
      await expect(contract.ledger.registerCustomer({ accountId, internalId: "first" })).rejects.toEqual(
        fault("customer_archived"),
      );
      expect((await contract.ledger.listCustomers({ accountId, limit: 10 })).items).toEqual([archived]);
    });

    test("are limited in number per account, including archived ones, but can be renamed at the limit", async () => {
      const { accountId, customerId } = await newAccount();
      const register = (internalId: string, name?: string) =>
        contract.ledger.registerCustomer({
          accountId,
          internalId,
          ...(name === undefined ? {} : { name }),
          customerCountMax: 3,
        });
      await register("second");
      await contract.ledger.archiveCustomer({ accountId, customerId });
      expect(await register("third")).toMatchObject({ isNew: true });
      for (const requested of [4, 4]) {
        await expect(register("fourth")).rejects.toMatchObject({
          code: "too_many_values",
          details: { requested, limit: 3 },
        });
      }
      expect(await register("third", "Renamed")).toMatchObject({ isNew: false, customer: { name: "Renamed" } });
      await expect(register("first")).rejects.toEqual(fault("customer_archived"));
      expect((await contract.ledger.listCustomers({ accountId, limit: 10 })).items).toHaveLength(3);
      const otherAccount = await newAccount();
      const registration = { accountId: otherAccount.accountId, internalId: "second", customerCountMax: 3 };
      expect(await contract.ledger.registerCustomer(registration)).toMatchObject({ isNew: true });
    });

    test("are each listed once across pages, in the order of registration", async () => {
      const { accountId } = await contract.ledger.createAccount({ name: "Pages" });
      const registered: Customer[] = [];
      for (let i = 0; i < 23; i++) {
        if (i % 5 === 0) contract.nowMs += 1;
        registered.push((await contract.ledger.registerCustomer({ accountId, internalId: `customer ${i}` })).customer);
      }
      const pagedCustomers: Customer[] = [];
      for (let cursor: string | undefined; ;) {
        const page = await contract.ledger.listCustomers({
          accountId,
          limit: 5,
          ...(cursor === undefined ? {} : { cursor }),
        });
        expect(page.items.length).toBeLessThanOrEqual(5);
        pagedCustomers.push(...page.items);
        cursor = page.next;
        if (cursor === undefined) break;
      }
      expect(new Set(pagedCustomers)).toEqual(new Set(registered));
      expect(pagedCustomers).toHaveLength(23);
      const times = pagedCustomers.map(({ createdAt }) => createdAt);
      expect(times).toEqual(times.toSorted());
      // A full last page has no empty page after it.
      expect(await contract.ledger.listCustomers({ accountId, limit: 23 })).toEqual({ items: pagedCustomers });
    });

    test("are not listed with an invalid limit, an invalid cursor, or the cursor of another account or list", async () => {
      const owner = await newAccount();
      const otherAccount = await newAccount();
      await contract.ledger.registerCustomer({ accountId: owner.accountId, internalId: "second" });
      const { next = "" } = await contract.ledger.listCustomers({ accountId: owner.accountId, limit: 1 });
      expect(next).not.toBe("");
      const changedCursor = next.slice(0, -1) + (next.endsWith("A") ? "B" : "A");
      for (const cursor of [
        "",
        "garbage",
        `${next}=`,
        ` ${next}`,
        changedCursor,
        Buffer.from('["",""]').toString("base64"),
      ]) {
        const query = { accountId: owner.accountId, limit: 1, cursor };
        await expect(contract.ledger.listCustomers(query), cursor).rejects.toEqual(fault("invalid_request", /cursor/));
      }
      await expect(
        contract.ledger.listCustomers({ accountId: otherAccount.accountId, limit: 1, cursor: next }),
      ).rejects.toEqual(fault("invalid_request", /cursor/));
      await expect(
        contract.ledger.usage({ accountId: owner.accountId, groupBy: [], limit: 1, cursor: next }),
      ).rejects.toEqual(fault("invalid_request", /cursor/));
      for (const limit of [0, 501, 1.5, NaN]) {
        await expect(contract.ledger.listCustomers({ accountId: owner.accountId, limit })).rejects.toEqual(
          fault("invalid_request", /limit/),
        );
      }
    });
  });
}
