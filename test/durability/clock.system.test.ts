/** A wrong clock: a service whose system clock is set does not record usage with a wrong date. */
import { expect, test } from "vitest";
import { HttpClient, randomRequest } from "./clients.ts";
import { dataFolder } from "./dataFolder.ts";
import { newAccount, startService, withLedger } from "./service.ts";
import { randomFrom } from "../seededRandom.ts";

const data = dataFolder("clock");
const TIMEOUT_MS = 60_000;

test(
  "a clock that is set 30 years forward stops billable responses and readiness until it is right again",
  async () => {
    const location = { data: data() };
    const account = await withLedger(location, (ledger) =>
      newAccount(ledger, { name: "Clients", internalIds: ["one"] }),
    );
    const service = await startService(location, { fault: "sets-clock-on-signal" });
    const http = new HttpClient(1);
    const random = randomFrom(21);
    const headers = { "X-API-Key": account.apiKey, "X-Customer-ID": account.customerIds[0] ?? "" };
    const respond = async (): Promise<readonly unknown[]> => {
      const { target, options } = randomRequest(random);
      const { status, text } = await http.send(service.url + target, {
        ...options,
        headers: { ...options.headers, ...headers },
      });
      return [status, (JSON.parse(text) as { readonly code?: string }).code];
    };
    const readiness = async (): Promise<number> => (await http.send(`${service.url}/readyz`, {})).status;
    try {
      await expect.poll(readiness, { timeout: 30_000 }).toBe(200); // It warms up.
      expect(await respond()).toEqual([200, undefined]);
      service.signal("SIGUSR2");
      await expect.poll(readiness, { timeout: 10_000 }).toBe(503);
      for (let i = 0; i < 10; i++) expect(await respond()).toEqual([503, "clock_unreliable"]);
      const registration = await http.send(`${service.url}/api/v1/customers`, {
        method: "POST",
        body: '{"internal_id":"two"}',
        headers: { "X-API-Key": account.apiKey, "Content-Type": "application/json" },
      });
      expect(registration.status).toBe(503);
      service.signal("SIGUSR2");
      await expect.poll(readiness, { timeout: 10_000 }).toBe(200);
      expect(await respond()).toEqual([200, undefined]);
    } finally {
      http.close();
      await service.stop();
    }
    await withLedger(location, async (ledger) => {
      const years = [];
      for await (const { recordedAt } of ledger.events({})) years.push(recordedAt.slice(0, 4));
      expect(years).toEqual(Array.from({ length: 2 }, () => String(new Date().getUTCFullYear())));
      expect((await ledger.audit()).chain.problems).toEqual([]);
    });
  },
  TIMEOUT_MS,
);
