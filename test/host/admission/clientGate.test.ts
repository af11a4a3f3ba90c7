import { describe, expect, test } from "vitest";
import { ClientGate, type ClientLimits, DEFAULT_CLIENT_LIMITS } from "../../../src/host/admission/limiters.ts";
import { ClientAddresses } from "../../../src/host/http/clientAddress.ts";

const EXEMPT = "10.0.0.1";

function gateWith(limits: Partial<ClientLimits>, options: { readonly addressCountMax?: number } = {}) {
  const shed: string[] = [];
  let nowMs = 0;
  const gate = new ClientGate({
    limits: { ...DEFAULT_CLIENT_LIMITS, ...limits },
    addresses: new ClientAddresses({ trustedProxies: [], exemptAddresses: [EXEMPT] }),
    onShed: (reason) => shed.push(reason),
    now: () => nowMs,
    ...options,
  });
  const codeOf = (act: () => unknown): string => {
    try {
      act();
      return "admitted";
    } catch (error) {
      return (error as { readonly code: string }).code;
    }
  };
  return { gate, shed, codeOf, advance: (durationMs: number): unknown => (nowMs += durationMs) };
}

describe("requests without a known key", () => {
  test("are limited per address, and admitted again at the sustained rate", () => {
    const { gate, shed, codeOf, advance } = gateWith({ openRequestsPerS: 2, openRequestBurst: 3 });
    const send = (address: string): string => codeOf(() => gate.admitRequest(address));
    expect(Array.from({ length: 4 }, () => send("192.0.2.1"))).toStrictEqual([
      "admitted",
      "admitted",
      "admitted",
      "rate_limited",
    ]);
    expect(send("192.0.2.2")).toBe("admitted");
    advance(500);
    expect([send("192.0.2.1"), send("192.0.2.1")]).toStrictEqual(["admitted", "rate_limited"]);
    expect(shed).toStrictEqual(["too_many_open_requests_of_address", "too_many_open_requests_of_address"]);
  });

  test("state the time after which a retry is admitted", () => {
    const { gate } = gateWith({ openRequestsPerS: 0.1, openRequestBurst: 1 });
    gate.admitRequest("192.0.2.1");
    expect(() => gate.admitRequest("192.0.2.1")).toThrow(/retry in 10 s/);
  });

  test("of an IPv6 network, and of an IPv4 address in both forms, share a limit", () => {
    const { gate, codeOf } = gateWith({ openRequestBurst: 1 });
    gate.admitRequest("2001:db8:0:1::5");
    expect(codeOf(() => gate.admitRequest("2001:db8:0:1:ffff::6"))).toBe("rate_limited");
    expect(codeOf(() => gate.admitRequest("2001:db8:0:2::5"))).toBe("admitted");
    gate.admitRequest("::ffff:192.0.2.1");
    expect(codeOf(() => gate.admitRequest("192.0.2.1"))).toBe("rate_limited");
  });

  test("from exempt addresses are not limited", () => {
    const { gate, codeOf } = gateWith({ openRequestBurst: 1 });
    for (let i = 0; i < 10; i++) expect(codeOf(() => gate.admitRequest(EXEMPT))).toBe("admitted");
    expect(gate.countRejected(EXEMPT)).toBe(false);
  });

  test("that were rejected count toward the limit", () => {
    const { gate, codeOf } = gateWith({ openRequestBurst: 2 });
    expect([1, 2, 3].map(() => gate.countRejected("192.0.2.1"))).toStrictEqual([false, false, true]);
    expect(codeOf(() => gate.admitRequest("192.0.2.1"))).toBe("rate_limited");
  });
});

describe("health checks and OPTIONS requests", () => {
  test("have a separate limit each, per address, and are admitted again at the sustained rate", () => {
    const limits = { openRequestBurst: 1, probesPerS: 2, probeBurst: 2 };
    const { gate, shed, codeOf, advance } = gateWith(limits);
    const send = (kind: "probe" | "options", address = "192.0.2.1"): string =>
      codeOf(() => gate.admitLightRequest(kind, address));
    expect([send("probe"), send("probe"), send("probe")]).toStrictEqual(["admitted", "admitted", "rate_limited"]);
    expect([send("options"), send("options"), send("options")]).toStrictEqual(["admitted", "admitted", "rate_limited"]);
    expect(codeOf(() => gate.admitRequest("192.0.2.1"))).toBe("admitted");
    expect(send("probe", "192.0.2.2")).toBe("admitted");
    advance(500);
    expect([send("probe"), send("probe")]).toStrictEqual(["admitted", "rate_limited"]);
    for (let i = 0; i < 10; i++) expect(send("probe", EXEMPT)).toBe("admitted");
    expect(shed).toHaveLength(3);
  });

  test("of load balancers and Kubernetes are admitted by default: 100 per second from an address", () => {
    const { gate, shed, advance } = gateWith({});
    for (let i = 0; i < 30_000; i++) {
      gate.admitLightRequest("probe", "192.0.2.1");
      advance(10);
    }
    expect(shed).toStrictEqual([]);
  });

  test("of addresses beyond those that are counted separately are not limited", () => {
    const { gate, codeOf } = gateWith({ probeBurst: 1 }, { addressCountMax: 1 });
    const send = (address: string): string => codeOf(() => gate.admitLightRequest("probe", address));
    expect([send("192.0.2.1"), send("192.0.2.1")]).toStrictEqual(["admitted", "rate_limited"]);
    for (let i = 0; i < 10; i++) expect(send("192.0.2.2")).toBe("admitted");
  });
});

describe("lookups of keys", () => {
  test("are limited in total and, to a quarter, per address", () => {
    const { gate, shed, codeOf } = gateWith({ keyLookupsMax: 8 });
    const start = (address: string): string => codeOf(() => gate.startLookup(address));
    expect(["1", "1", "1"].map((last) => start(`192.0.2.${last}`))).toStrictEqual([
      "admitted",
      "admitted",
      "overloaded",
    ]);
    for (let i = 0; i < 6; i++) expect(start(EXEMPT)).toBe("admitted");
    expect(start(EXEMPT)).toBe("overloaded");
    expect(start("192.0.2.9")).toBe("overloaded");
    expect(gate.lookupCount).toBe(8);
    expect(shed).toStrictEqual(["too_many_key_lookups", "too_many_key_lookups", "too_many_key_lookups"]);
  });

  test("release their places", () => {
    const { gate, codeOf } = gateWith({ keyLookupsMax: 1 });
    const end = gate.startLookup("192.0.2.1");
    expect(codeOf(() => gate.startLookup("192.0.2.2"))).toBe("overloaded");
    end();
    expect(gate.lookupCount).toBe(0);
    expect(codeOf(() => gate.startLookup("192.0.2.2"))).toBe("admitted");
  });
});

describe("rejected keys", () => {
  test("are limited to 20 per address and minute, and the minute is not prolonged by a clock that is set back", () => {
    const { gate, advance } = gateWith({});
    const send = (count: number, address = "192.0.2.1"): (number | undefined)[] =>
      Array.from({ length: count }, () => gate.countRejectedKey(address));
    expect(send(21).map((retryAfterS) => retryAfterS !== undefined)).toEqual([...Array(20).fill(false), true]);
    advance(20_000);
    expect(send(1)).toEqual([40]);
    expect(send(1, "192.0.2.2")).toEqual([undefined]);
    advance(40_000);
    expect(send(21).at(19)).toBeUndefined();
    advance(-3_600_000);
    expect(send(21).at(19)).toBeUndefined();
    advance(60_000);
    expect(send(1)).toEqual([undefined]);
  });

  test("of an IPv6 network share a limit, and so do those of addresses that are not counted separately", () => {
    const { gate } = gateWith({}, { addressCountMax: 1 });
    for (let i = 0; i < 20; i++) gate.countRejectedKey(`2001:db8:0:1::${i}`);
    expect(gate.countRejectedKey("2001:DB8::1:0:0:0:3%eth0")).toBe(60);
    for (let i = 0; i < 20; i++) expect(gate.countRejectedKey(`192.0.2.${i}`)).toBeUndefined();
    expect(gate.countRejectedKey("198.51.100.1")).toBe(60);
  });
});
