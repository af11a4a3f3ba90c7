/**
 * Bodies whose parsed values take many times their size, and many bodies one after the other. `ISOTHERM_ATTACK_BODIES`
 * sets how many bodies are sent at the same time, `ISOTHERM_ATTACK_ROUNDS` how often, and `ISOTHERM_ATTACK_REJECTED_BODIES`
 * how many bodies of 8 MiB are sent in sequence.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sampleResidentBytes } from "../soak/residentSampler.ts";
import { type ServiceProcess, startServiceProcess } from "../soak/serviceProcess.ts";
import { attackSize } from "./attackSize.ts";

const BODY_COUNT = attackSize("BODIES", { small: 8, full: 12 });
const ROUND_COUNT = attackSize("ROUNDS", { small: 6, full: 60 });
const REJECTED_COUNT = attackSize("REJECTED_BODIES", { small: 40, full: 200 });
const MEMORY_MIB = 512;
/** Growth after the first bodies. Each body takes 8 MiB, and its text as much again until it is collected. */
const GROWTH_BYTES_MAX = 200 << 20;
const BODY_BYTES = 8 << 20;
/** The nested lists of such a body take just under the 50.6 MiB that one account may use. */
const LISTS_BYTES_MAX = 1.44 * 2 ** 20;

/**
 * Sends a body for a worker.
 * @returns the status; 0 if the service, which rejects a body before it is complete, closed the connection while it was sent
 */
async function sendBody({ port, headers }: ServiceProcess, body: string): Promise<number> {
  const url = `http://127.0.0.1:${port}/api/v1/temperature-alignment-projections`;
  const init = { method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body };
  try {
    const response = await fetch(url, init);
    await response.arrayBuffer();
    return response.status;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return 0;
  }
}

/** Returns a list of nested lists, whose values take 35 times its size. */
function nestedLists(sizeBytes: number): string {
  const unit = `${"[".repeat(14)}${"]".repeat(14)}`;
  const count = Math.floor((sizeBytes - 2) / (unit.length + 1));
  return `[${Array.from({ length: count }, () => unit).join(",")}]`;
}

test.each([1, 0])(
  "nested lists in several bodies, again and again, take no more than the memory of the process with --workers %i",
  { timeout: 600_000 },
  async (workerCount) => {
    const data = await mkdtemp(join(tmpdir(), "isotherm-attack-"));
    const flags = ["--workers", String(workerCount), "--memory", String(MEMORY_MIB)];
    const service = await startServiceProcess(data, { flags });
    try {
      const bodies = { largest: nestedLists(LISTS_BYTES_MAX), tooLarge: nestedLists(2 * LISTS_BYTES_MAX) };
      const statuses: number[] = [];
      const send = async (body: string): Promise<number> => {
        const status = await sendBody(service, body);
        statuses.push(status);
        return status;
      };
      /** Sends a body until it is not rejected because of others that are still in memory. */
      const sendAlone = async (body: string): Promise<number> => {
        for (;;) {
          const status = await send(body);
          if (status !== 503 && status !== 0) return status;
        }
      };
      const sampler = sampleResidentBytes(service, { intervalMs: 20 });
      for (let round = 0; round < ROUND_COUNT; round++) {
        await Promise.all(
          Array.from({ length: BODY_COUNT }, (_, index) => send(index % 2 === 0 ? bodies.largest : bodies.tooLarge)),
        );
        expect(await sendAlone(bodies.largest)).toBe(400);
        expect(await sendAlone(bodies.tooLarge)).toBe(413);
      }
      const peakBytes = Math.max(...(await sampler.stop()));
      const countOf = (status: number): number => statuses.filter((each) => each === status).length;
      console.log(
        `${statuses.length} bodies: ${countOf(400)} parsed, ${countOf(413)} too large, ${countOf(503)} rejected, ` +
          `${countOf(0)} closed, ` +
          `peak ${(peakBytes / 2 ** 20).toFixed(0)} MiB`,
      );
      expect(countOf(400) + countOf(413) + countOf(503) + countOf(0)).toBe(statuses.length);
      expect(peakBytes).toBeLessThan(MEMORY_MIB * 2 ** 20);
      const response = await fetch(`http://127.0.0.1:${service.port}/healthz`);
      expect(response.status).toBe(200);
    } finally {
      await service.stop();
      await rm(data, { recursive: true, force: true });
    }
  },
);

test.each([1, 0])(
  "the memory of rejected bodies is used again, without a limit on memory, with --workers %i",
  { timeout: 1_200_000 },
  async (workerCount) => {
    const data = await mkdtemp(join(tmpdir(), "isotherm-attack-"));
    const service = await startServiceProcess(data, { flags: ["--workers", String(workerCount)] });
    try {
      const body = `[${" ".repeat(BODY_BYTES - 2)}]`;
      const rejectBodies = async (count: number): Promise<number> => {
        for (let i = 0; i < count; i++) {
          // A busy machine may miss the deadline.
          let status = 503;
          while (status === 503) status = await sendBody(service, body);
          expect(status).toBe(400);
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
  },
);
