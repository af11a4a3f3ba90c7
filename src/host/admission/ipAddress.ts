import { isIPv4, isIPv6 } from "node:net";

const GROUP_COUNT = 8;
/** Prefix of IPv4 addresses that are written as IPv6 addresses (RFC 4291, 2.5.5.2). */
const MAPPED_PREFIX = [0, 0, 0, 0, 0, 0xffff];

/**
 * Returns the eight 16-bit groups of an IPv6 address, without its zone.
 * @returns undefined if the text is not an IPv6 address
 */
export function ipv6Groups(address: string): readonly number[] | undefined {
  if (!isIPv6(address)) return undefined;
  const [plain = ""] = address.split("%");
  const [head = [], tail] = plain.split("::").map(groupsOf);
  if (tail === undefined) return head;
  return [...head, ...Array.from({ length: GROUP_COUNT - head.length - tail.length }, () => 0), ...tail];
}

/**
 * Returns an address without its zone; an IPv4 address that is written as an IPv6 address (`::ffff:192.0.2.1` or
 * `::ffff:c000:201`), as IPv4. Text that is not an address is returned unchanged, apart from a zone.
 */
export function plainAddress(address: string): string {
  if (!address.includes(":")) return withoutZone(address);
  const groups = ipv6Groups(address);
  if (groups === undefined || MAPPED_PREFIX.some((group, i) => groups[i] !== group)) return withoutZone(address);
  const [high = 0, low = 0] = groups.slice(MAPPED_PREFIX.length);
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
}

function withoutZone(address: string): string {
  return address.split("%")[0] ?? "";
}

/** Returns the groups of a part of an IPv6 address, which may end with an IPv4 address. */
function groupsOf(part: string): readonly number[] {
  if (part === "") return [];
  return part.split(":").flatMap((group) => {
    if (!isIPv4(group)) return [Number.parseInt(group, 16)];
    const [first = 0, second = 0, third = 0, fourth = 0] = group.split(".").map(Number);
    return [(first << 8) | second, (third << 8) | fourth];
  });
}

/**
 * Returns the network that a client address is counted by: for IPv6 the /64 network, because one client may control all
 * of it; for IPv4 the address, also if it is written as an IPv6 address (`::ffff:192.0.2.1` or `::ffff:c000:201`).
 */
export function networkOf(address: string): string {
  const plain = plainAddress(address);
  const groups = ipv6Groups(plain);
  return groups === undefined
    ? plain
    : groups
        .slice(0, 4)
        .map((group) => group.toString(16))
        .join(":");
}
