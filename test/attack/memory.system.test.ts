/**
 * Bodies whose parsed values take many times their size, and many bodies one after the other. `ISOTHERM_ATTACK_BODIES`
 * sets how many bodies of 8 MiB are sent at the same time, `ISOTHERM_ATTACK_REJECTED_BODIES` how many in sequence.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startServiceProcess } from "../soak/serviceProcess.ts";
import { attackSize } from "./attackSize.ts";

const BODY_COUNT = attackSize("BODIES", { small: 8, full: 12 });
const REJECTED_COUNT = attackSize("REJECTED_BODIES", { small: 40, full: 200 });
const MEMORY_MIB = 512;
/** Growth after the first bodies. Each body takes 8 MiB, and its text as much again until it is collected. */
const GROWTH_BYTES_MAX = 200 << 20;
const BODY_BYTES = 8 << 20;

test(
  "nested lists in several large bodies take no more than the memory of the process",
  { timeout: 300_000 },
  async () => {
    const data = await mkdtemp(join(tmpdir(), "isotherm-attack-"));
    const service = await startServiceProcess(data, { flags: ["--workers", "1", "--memory", String(MEMORY_MIB)] });
    try {
      const unit = `${"[".repeat(14)}${"]".repeat(14)}`;
      const count = Math.floor((BODY_BYTES - 2) / (unit.length + 1));
      const body = `[${Array.from({ length: count }, () => unit).join(",")}]`;
      let peakBytes = 0;
      const sampling = setInterval(
        () => void service.residentBytes().then((now) => (peakBytes = Math.max(peakBytes, now))),
        20,
      );
      const statuses = await Promise.all(
        Array.from({ length: BODY_COUNT }, async () => {
          const response = await fetch(`http://127.0.0.1:${service.port}/api/v1/temperature-alignment-projections`, {
            method: "POST",
            headers: { ...service.headers, "Content-Type": "application/json" },
            body,
          });
          await response.arrayBuffer();
          return response.status;
        }),
      );
      clearInterval(sampling);
      console.log(`${BODY_COUNT} bodies: ${statuses.join(" ")}, peak ${(peakBytes / 2 ** 20).toFixed(0)} MiB`);
      // One is processed and found invalid; the others exceed what the account may hold.
      expect(statuses).toContain(400);
      expect(statuses).toContain(503);
      expect(peakBytes).toBeLessThan(MEMORY_MIB * 2 ** 20);
      expect((await fetch(`http://127.0.0.1:${service.port}/healthz`)).status).toBe(200);
    } finally {
      await service.stop();
      await rm(data, { recursive: true, force: true });
    }
  },
);

test("the memory of rejected bodies is used again, without a limit on memory", { timeout: 300_000 }, async () => {
  const data = await mkdtemp(join(tmpdir(), "isotherm-attack-"));
  const service = await startServiceProcess(data, { flags: ["--workers", "1"] });
  try {
    const body = `[${" ".repeat(BODY_BYTES - 2)}]`;
    const rejectBodies = async (count: number): Promise<number> => {
      for (let i = 0; i < count; i++) {
        const response = await fetch(`http://127.0.0.1:${service.port}/api/v1/temperature-alignment-projections`, {
          method: "POST",
          headers: { ...service.headers, "Content-Type": "application/json" },
          body,
        });
        expect(response.status).toBe(400);
        await response.arrayBuffer();
      }
      return service.residentBytes();
    };
    const firstBytes = await rejectBodies(5);
    const lastBytes = await rejectBodies(REJECTED_COUNT);
    const [first, last] = [firstBytes, lastBytes].map((bytes) => (bytes / 2 ** 20).toFixed(0));
    console.log(`${first} MiB after 5 bodies, ${last} MiB after ${REJECTED_COUNT} more`);
    expect(lastBytes - firstBytes).toBeLessThan(GROWTH_BYTES_MAX);
  } finally {
    await service.stop();
    await rm(data, { recursive: true, force: true });
  }
});
