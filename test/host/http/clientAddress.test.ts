import { describe, expect, test } from "vitest";
import { addressRangeErrors, ClientAddresses } from "../../../src/host/http/clientAddress.ts";

const addresses = new ClientAddresses({
  trustedProxies: ["10.0.0.0/8", "192.0.2.1", "fd00::/8"],
  exemptAddresses: ["127.0.0.0/8", "::1"],
});
const addressOf = (remoteAddress: string | undefined, forwarded?: string): string =>
  addresses.of({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { "x-forwarded-for": forwarded },
  });

describe("the address of a client", () => {
  test.each([
    ["203.0.113.9", "198.51.100.1", "203.0.113.9"],
    ["10.1.2.3", "198.51.100.1", "198.51.100.1"],
    ["10.1.2.3", "1.1.1.1, 198.51.100.1", "198.51.100.1"],
    ["10.1.2.3", "1.1.1.1, 198.51.100.1, 10.9.9.9", "198.51.100.1"],
    ["::ffff:10.1.2.3", "198.51.100.1:4711", "198.51.100.1"],
    ["fd12::1", "[2001:db8::1]:443", "2001:db8::1"],
    ["fd12::1%eth0", "2001:db8::1", "2001:db8::1"],
    ["192.0.2.1", "::ffff:198.51.100.1", "198.51.100.1"],
    ["::ffff:0a01:0203", "::ffff:c633:6401", "198.51.100.1"],
    ["10.1.2.3", "10.4.4.4", "10.4.4.4"],
    ["10.1.2.3", "unknown, 10.4.4.4", "10.4.4.4"],
    ["10.1.2.3", "198.51.100.1, ", "10.1.2.3"],
    ["10.1.2.3", "198.51.100.1, _hidden", "10.1.2.3"],
    ["10.1.2.3", "", "10.1.2.3"],
    ["10.1.2.3", undefined, "10.1.2.3"],
    [undefined, "198.51.100.1", ""],
  ])("connected from %s with X-Forwarded-For %j is %s", (remoteAddress, forwarded, expected) => {
    expect(addressOf(remoteAddress, forwarded)).toBe(expected);
  });

  test("is that of the connection if no proxy is trusted", () => {
    const strict = new ClientAddresses({ trustedProxies: [], exemptAddresses: [] });
    const headers = { "x-forwarded-for": "198.51.100.1" };
    expect(strict.of({ socket: { remoteAddress: "127.0.0.1" }, headers })).toBe("127.0.0.1");
  });
});

describe("limits by address", () => {
  test.each([
    ["203.0.113.9", true, true],
    ["127.0.0.1", false, false],
    ["::ffff:127.0.0.1", false, false],
    ["::ffff:7f00:1", false, false],
    ["::1", false, false],
    ["10.1.2.3", true, false],
  ])("apply to requests and connections from %s: %s, %s", (address, isLimited, isConnectionLimited) => {
    expect(addresses.isConnectionLimited(address)).toBe(isConnectionLimited);
    expect(addresses.isLimited(address)).toBe(isLimited);
  });
});

describe("addressRangeErrors", () => {
  test.each(["192.0.2.1", "10.0.0.0/8", "::1", "fd00::/8", "0.0.0.0/1", "::ffff:10.0.0.1"])("accepts %s", (range) => {
    expect(addressRangeErrors([range], { pointer: "/trustedProxies", isAllAllowed: false })).toStrictEqual([]);
  });

  test.each([
    "",
    "host",
    "10.0.0.0/33",
    "10.0.0/8",
    "10.0.0.0/",
    "::/129",
    "fe80::1%eth0",
    "10.0.0.0/8/8",
    "1.2.3.4/-1",
  ])("rejects %j", (range) => {
    const items = addressRangeErrors(["::1", range], { pointer: "/trustedProxies", isAllAllowed: false });
    expect(items).toMatchObject([{ pointer: "/trustedProxies/1", code: "malformed" }]);
    expect(items[0]?.detail).toContain("trustedProxies must be IP addresses or ranges such as");
  });

  test.each(["0.0.0.0/0", "::/0", "::/00"])("rejects %s among trusted proxies only", (range) => {
    const trusted = addressRangeErrors([range], { pointer: "/trustedProxies", isAllAllowed: false });
    expect(trusted).toMatchObject([{ pointer: "/trustedProxies/0", code: "not_allowed" }]);
    expect(addressRangeErrors([range], { pointer: "/clients/exemptAddresses", isAllAllowed: true })).toStrictEqual([]);
  });
});
