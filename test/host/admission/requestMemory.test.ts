import { expect, test } from "vitest";
import { planMemory } from "../../../src/cli/memoryPlan.ts";
import { AdmissionControl } from "../../../src/host/admission/admissionControl.ts";
import { DEFAULT_LOAD_LIMITS } from "../../../src/host/admission/resources.ts";
import type { Slot } from "../../../src/host/admission/resources.ts";
import { jsonLimits, JsonStructureScan } from "../../../src/text/json/jsonScan.ts";
import type { Fault } from "../../../src/errors.ts";
import { ENTITY } from "../entities.ts";

const MIB = 2 ** 20;
const BODY_BYTES_MAX = 8 * MIB;
/** A machine whose memory does not limit a service without `--memory`. */
const LARGE_MACHINE_BYTES = 64 * 1024 * MIB;

/** Returns an admission control with an amount of memory, half of which one account may hold. */
function startAdmission(memoryBytesMax: number) {
  const shed: string[] = [];
  const admission = new AdmissionControl({
    limits: { ...DEFAULT_LOAD_LIMITS, memoryBytesMax, accountShare: 0.5 },
    workerCount: 1,
    onShed: (reason) => shed.push(reason),
  });
  const newSlot = (account: string): Slot => {
    const slot = admission.acquire(account);
    return slot;
  };
  return { admission, newSlot, shed };
}

/** Returns the error that a function throws. */
function errorOf(run: () => unknown): Fault | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    return error as Fault;
  }
}

test("a body whose values exceed the share of an account is too large even if it is the only one", () => {
  const { admission, newSlot, shed } = startAdmission(20 * MIB);
  const slot = newSlot("attacker");
  admission.setBody(slot, { heldBytes: MIB, sizeBytes: MIB, valueBytes: 7 * MIB });
  const error = errorOf(() => admission.setBody(slot, { heldBytes: MIB, sizeBytes: MIB, valueBytes: 7.01 * MIB }));
  expect(error?.code).toBe("body_too_large");
  expect(error?.message).toBe(
    "The body would take at least 10.01 MiB of memory, estimated from its size, lists, objects and values; one account " +
      "may use 10.00 MiB. Split the request.",
  );
  expect(error?.headers).toStrictEqual({});
  expect(shed).toStrictEqual([]);
  admission.setBody(newSlot("other"), { heldBytes: MIB, sizeBytes: MIB, valueBytes: 7 * MIB });
  admission.release(slot);
  admission.setBody(newSlot("attacker"), { heldBytes: MIB, sizeBytes: MIB, valueBytes: 7 * MIB });
});

test("a body is too large before it is read if its size alone exceeds the share of an account", () => {
  const { admission, newSlot } = startAdmission(6 * MIB);
  expect(admission.admitBody(newSlot("a"), MIB)).toBeUndefined();
  expect(errorOf(() => admission.admitBody(newSlot("a"), MIB + 1))?.code).toBe("body_too_large");
});

/** Returns a list of at most `sizeBytes`. */
function listOf(unit: string, sizeBytes = BODY_BYTES_MAX): string {
  return `[${Array.from({ length: Math.floor((sizeBytes - 2) / (unit.length + 1)) }, () => unit).join(",")}]`;
}

const QUERY = {
  latitude: -12.345_678,
  longitude: -123.456_789,
  radius: 100,
  hazards: ["riverine_floods", "coastal_floods", "cyclones", "wildfire", "heatwaves", "droughts", "cold_spells"],
  analysis_years: [2020, 2030, 2050],
  scenarios: ["historical", "rcp4p5", "rcp8p5"],
};

/** Returns entities with 20 projected years each. */
function entitiesOf(count: number): string {
  const years = Array.from({ length: 20 }, (_, index) => ({
    year: 2025 + index,
    emissions: { scope1: 123, scope2: 45, scope3: 678 },
  }));
  const { name: _name, ...info } = ENTITY.entity_info;
  const entity = { ...ENTITY, entity_info: info, projected_emissions: years };
  return JSON.stringify(Array.from({ length: count }, () => entity));
}

/** Holds the memory of a body as if it were read at once. @throws Fault `body_too_large` */
function hold(memoryBytesMax: number, text: string): void {
  const { admission, newSlot } = startAdmission(memoryBytesMax);
  const bytes = Buffer.from(text);
  expect(bytes.length).toBeLessThanOrEqual(BODY_BYTES_MAX);
  const scan = new JsonStructureScan(jsonLimits(BODY_BYTES_MAX));
  expect(scan.advance(bytes)).toBeUndefined();
  admission.setBody(newSlot("a"), { heldBytes: bytes.length, sizeBytes: bytes.length, valueBytes: scan.valueBytes });
}

test.each([
  ["10,000 queries", JSON.stringify(Array.from({ length: 10_000 }, () => QUERY))],
  ["5,000 entities with 20 projected years", entitiesOf(5_000)],
  ["8 MiB of numbers", listOf("1234567")],
  ["8 MiB of pairs of numbers", listOf("[12.3456,1.234567]")],
])("%s are accepted with the default memory and with 1 GiB", (_what, text) => {
  for (const workers of [0, 1, 2, 16]) {
    hold(planMemory({ workers, availableBytes: LARGE_MACHINE_BYTES }).requestBytes, text);
  }
  hold(planMemory({ workers: 1, memoryBytes: 1024 * MIB }).requestBytes, text);
});

test.each([
  ["10,000 queries", JSON.stringify(Array.from({ length: 10_000 }, () => QUERY))],
  ["2,000 entities with 20 projected years", entitiesOf(2_000)],
  ["7 MiB of numbers", listOf("1234567", 7 * MIB)],
  ["8 MiB of text", `["${"x".repeat(BODY_BYTES_MAX - 4)}"]`],
])("%s are accepted with 512 MiB", (_what, text) => {
  hold(planMemory({ workers: 1, memoryBytes: 512 * MIB }).requestBytes, text);
});

test("nested lists of 8 MiB are too large with the default memory", () => {
  const { requestBytes } = planMemory({ workers: 1, availableBytes: LARGE_MACHINE_BYTES });
  const text = listOf(`${"[".repeat(14)}${"]".repeat(14)}`);
  expect(errorOf(() => hold(requestBytes, text))?.code).toBe("body_too_large");
});
