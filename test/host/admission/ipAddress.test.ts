import fc from "fast-check";
import { expect, test } from "vitest";
import { ipv6Groups, networkOf, plainAddress } from "../../../src/host/admission/ipAddress.ts";

test.each([
  "::ffff:192.168.1.1",
  "::FFFF:192.168.1.1",
  "::ffff:c0a8:0101",
  "::ffff:c0a8:101",
  "::ffff:C0A8:101%eth0",
  "0:0:0:0:0:ffff:c0a8:101",
  "0000:0000:0000:0000:0000:ffff:192.168.1.1",
  "0::ffff:c0a8:101",
  "192.168.1.1",
])("%s is the IPv4 address 192.168.1.1, and its own network", (address) => {
  expect(plainAddress(address)).toBe("192.168.1.1");
  expect(networkOf(address)).toBe("192.168.1.1");
});

test.each([
  ["2001:db8::1", "2001:db8:0:0"],
  ["2001:0DB8::1%eth0", "2001:db8:0:0"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:db8:1:2:ffff::", "2001:db8:1:2"],
  ["1::2:3:4:5:192.0.2.1", "1:0:2:3"],
  ["::1", "0:0:0:0"],
  ["::", "0:0:0:0"],
  // Not mapped: deprecated compatible addresses, and those of a translator.
  ["::192.168.1.1", "0:0:0:0"],
  ["64:ff9b::c0a8:101", "64:ff9b:0:0"],
  ["::fffe:c0a8:101", "0:0:0:0"],
])("%s belongs to the network %s", (address, network) => {
  expect(networkOf(address)).toBe(network);
});

test.each(["", "unknown", "192.168.1.256", "::ffff:c0a8:101:1:2:3:4:5:6", "::ffff:192.168.1"])(
  "%j, which is not an address, is returned unchanged",
  (text) => {
    expect(ipv6Groups(text)).toBeUndefined();
    expect(plainAddress(text)).toBe(text);
    expect(networkOf(text)).toBe(text);
  },
);

test("the groups of any IPv6 address are those of the URL standard's shortest form", () => {
  fc.assert(
    fc.property(fc.ipV6(), (address) => {
      const groups = ipv6Groups(address) ?? [];
      expect(groups).toHaveLength(8);
      const text = groups.map((group) => group.toString(16)).join(":");
      expect(new URL(`http://[${text}]`).hostname).toBe(new URL(`http://[${address}]`).hostname);
    }),
  );
});
