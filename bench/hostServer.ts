/**
 * The server process measured by host.bench.ts: `bare` returns a fixed body of 1 KB from node:http alone, `host` is
 * Isotherm with usage recording stubbed out, `ledger` is Isotherm with a ledger on disk. Reports its CPU time on
 * request.
 */
import { mkdtempSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Ledger } from "../src/ledger/ledger.ts";
import { serve } from "../src/host/main.ts";
import { openLedger } from "../src/ledger/openLedger.ts";
import { openAtlas } from "../src/openAtlas.ts";
import type { Listening } from "./forkedServer.ts";

export type ServerKind = "bare" | "host" | "ledger";

const [kind, atlasFolder = ""] = process.argv.slice(2) as [ServerKind, string?];
const listening = kind === "bare" ? await bare() : await host();
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMicroseconds: user + system });
});
process.on("disconnect", () => process.exit(0));
process.send?.(listening);

async function bare(): Promise<Listening> {
  const body = JSON.stringify({ text: "x".repeat(1013) });
  const head = ["Content-Type", "application/json", "Content-Length", String(body.length)];
  const server = createServer((_request, response) => {
    response.writeHead(200, head);
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { port: (server.address() as AddressInfo).port, headers: [] };
}

async function host(): Promise<Listening> {
  const ledger = await openLedger({ data: mkdtempSync(join(tmpdir(), "isotherm-bench-host-")) });
  const { accountId } = await ledger.createAccount({ name: "Bench" });
  const { secret } = await ledger.createKey({ accountId });
  const { customer } = await ledger.registerCustomer({ accountId, internalId: "bench" });
  const running = await serve({
    atlas: await openAtlas(atlasFolder),
    ledger: kind === "ledger" ? ledger : withoutRecords(ledger),
    host: "127.0.0.1",
    port: 0,
    limits: { requestsPerS: 1e9, requestBurst: 1e9 },
  });
  await running.ready;
  return {
    port: running.address.port,
    headers: [`X-API-Key: ${secret}`, `X-Customer-ID: ${customer.customerId}`],
  };
}

/** Returns the same ledger, except that `record` writes nothing and resolves immediately. */
function withoutRecords(ledger: Ledger): Ledger {
  return new Proxy(ledger, {
    get(target, name) {
      if (name === "record") {
        return ({ units }: { readonly units: number }) => Promise.resolve({ units, isReplay: false });
      }
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
