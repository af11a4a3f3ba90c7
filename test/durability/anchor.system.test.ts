/** A service that cannot write the anchor of its ledger says so: in its log, in its metrics and by /readyz. */
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { describeWithPostgres, postgresOfSuite } from "../ledger/postgresServer.ts";
import { randomFrom } from "../seededRandom.ts";
import { HttpClient, randomRequest } from "./clients.ts";
import { dataFolder } from "./dataFolder.ts";
import { findDamage, newAccount, startService, withLedger } from "./service.ts";

const data = dataFolder("anchor");
const TIMEOUT_MS = 90_000;

describeWithPostgres("a service whose data folder cannot be written", () => {
  const server = postgresOfSuite();

  test(
    "is not ready after ten seconds, logs why, and is ready when the folder can be written again",
    async () => {
      const folder = join(data(), "service");
      const location = { data: folder, database: await server().newDatabase() };
      const account = await withLedger(location, (ledger) =>
        newAccount(ledger, { name: "Clients", internalIds: ["one"] }),
      );
      const service = await startService(location, { flags: ["--admin-port", "0"] });
      const http = new HttpClient(2);
      const random = randomFrom(3);
      const bill = async (): Promise<number> => {
        const { target, options } = randomRequest(random);
        const headers = { "X-API-Key": account.apiKey, "X-Customer-ID": account.customerIds[0] ?? "" };
        const { status } = await http.send(service.url + target, {
          ...options,
          headers: { ...options.headers, ...headers },
        });
        return status;
      };
      const readiness = async (): Promise<number> => (await http.send(`${service.url}/readyz`)).status;
      const [, metricsUrl = ""] = /"metrics":"([^"]+)"/.exec(service.output()) ?? [];
      const unwrittenS = async (): Promise<number> => {
        const { text } = await http.send(metricsUrl);
        return Number(/^isotherm_ledger_anchor_unwritten_seconds (\S+)$/m.exec(text)?.[1]);
      };
      try {
        await expect.poll(readiness, { timeout: 30_000 }).toBe(200); // It warms up.
        expect(await bill()).toBe(200);
        expect(await unwrittenS()).toBe(0);
        await rename(folder, `${folder}-moved`);
        await writeFile(folder, "");
        expect(await bill()).toBe(200);
        await expect.poll(unwrittenS).toBeGreaterThan(0);
        await expect.poll(readiness, { timeout: 30_000 }).toBe(503);
        // Usage is still recorded.
        expect(await bill()).toBe(200);
        await rm(folder);
        await rename(`${folder}-moved`, folder);
        await expect.poll(readiness, { timeout: 30_000 }).toBe(200);
        expect(await unwrittenS()).toBe(0);
      } finally {
        http.close();
        await service.stop();
      }
      const warnings = service.output().match(/"event":"ledger_warning","message":"[^"]*"/g) ?? [];
      expect(warnings).toEqual([
        expect.stringMatching(/ledger-anchor-\w+\.json, could not be written: (ENOTDIR|EEXIST)/),
        expect.stringMatching(/is written again/),
      ]);
      expect(service.output()).toMatch(/"error":\{.*has not been written for 1\d s/);
      expect(await findDamage(location)).toEqual([]);
    },
    TIMEOUT_MS,
  );
});
