/**
 * A server process measured by tiles.bench.ts: `host` is Isotherm with one worker thread, `bare` returns from node:http
 * alone the bodies that its parent sends it. Reports its CPU time on request.
 */
import { mkdtempSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve } from "../src/host/main.ts";
import { openLedger } from "../src/ledger/openLedger.ts";
import { openAtlas } from "../src/openAtlas.ts";
import type { Listening } from "./forkedServer.ts";

/** A response that the bare server sends. */
export interface FixedResponse {
  readonly path: string;
  /** Header fields, flat: name, value, … */
  readonly fields: readonly string[];
  readonly bodyBase64: string;
}

const fixed = new Map<string, { readonly fields: readonly string[]; readonly body: Buffer }>();
const [kind, atlasFolder = ""] = process.argv.slice(2);
const listening = kind === "bare" ? await bare() : await host();
process.on("message", (message: "cpu" | readonly FixedResponse[]) => {
  if (message !== "cpu") {
    for (const { path, fields, bodyBase64 } of message) {
      fixed.set(path, { fields, body: Buffer.from(bodyBase64, "base64") });
    }
  }
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMicroseconds: user + system });
});
process.on("disconnect", () => process.exit(0));
process.send?.(listening);

async function bare(): Promise<Listening> {
  const server = createServer((request, response) => {
    const { fields, body } = fixed.get(request.url ?? "") ?? { fields: [], body: Buffer.alloc(0) };
    response.writeHead(fields.length === 0 ? 404 : 200, [...fields]);
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { port: (server.address() as AddressInfo).port, headers: [] };
}

async function host(): Promise<Listening> {
  const ledger = await openLedger({ data: mkdtempSync(join(tmpdir(), "isotherm-bench-tiles-")) });
  const { accountId } = await ledger.createAccount({ name: "Bench" });
  const { secret } = await ledger.createKey({ accountId });
  const { customer } = await ledger.registerCustomer({ accountId, internalId: "bench" });
  const running = await serve({
    atlas: await openAtlas(atlasFolder, { workers: 1 }),
    ledger,
    host: "127.0.0.1",
    port: 0,
    limits: { requestsPerS: 1e9, requestBurst: 1e9, tilesPerS: 1e9, tileBurst: 1e9 },
  });
  await running.ready;
  return {
    port: running.address.port,
    headers: [`X-API-Key: ${secret}`, `X-Customer-ID: ${customer.customerId}`],
  };
}
