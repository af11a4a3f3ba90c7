import type { IncomingMessage } from "node:http";
import { BlockList, isIP, isIPv4 } from "node:net";
import type { FaultItem } from "../../errors.ts";
import type { ClientRequest } from "../admission/limiters.ts";
import { plainAddress } from "../admission/ipAddress.ts";
import { quote } from "../../validation/schemaErrors.ts";

/** A set of IP addresses, as a list of addresses and ranges in CIDR notation. */
export class AddressRanges {
  readonly #list = new BlockList();
  readonly isEmpty: boolean;

  /** @param ranges valid according to `addressRangeErrors` */
  constructor(ranges: readonly string[]) {
    this.isEmpty = ranges.length === 0;
    for (const range of ranges) {
      const [address = "", prefix] = range.split("/");
      const family = familyOf(address);
      this.#list.addSubnet(address, prefix === undefined ? (family === "ipv4" ? 32 : 128) : Number(prefix), family);
    }
  }

  includes(address: string): boolean {
    return !this.isEmpty && isIP(address) !== 0 && this.#list.check(address, familyOf(address));
  }
}

export interface ClientAddressesOptions {
  /** Reverse proxies whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[];
  /** Addresses whose clients are not limited by address. */
  readonly exemptAddresses: readonly string[];
}

/** Determines the addresses of clients, and which of them are limited by address. */
export class ClientAddresses {
  readonly #trusted: AddressRanges;
  readonly #exempt: AddressRanges;

  constructor({ trustedProxies, exemptAddresses }: ClientAddressesOptions) {
    this.#trusted = new AddressRanges(trustedProxies);
    this.#exempt = new AddressRanges(exemptAddresses);
  }

  /**
   * Returns the address of the client that sent a request: that of the connection or, if it is a trusted proxy, the last
   * address in `X-Forwarded-For` that is not a trusted proxy. Earlier ones are the client's own claims.
   */
  of({ socket, headers }: ClientRequest): string {
    let address = plainAddress(socket.remoteAddress ?? "");
    if (this.#trusted.isEmpty) return address;
    const { "x-forwarded-for": forwarded = "" } = headers;
    // Node joins repeated header fields with commas.
    const claims = String(forwarded).split(",");
    while (this.#trusted.includes(address)) {
      const claimed = plainAddress(withoutPort(claims.pop()?.trim() ?? ""));
      // The last proxy that could be identified stands for the clients behind it.
      if (isIP(claimed) === 0) break;
      address = claimed;
    }
    return address;
  }

  /**
   * Returns the scheme and authority under which the client reached the service: the header `Host`, with https if the
   * connection is encrypted or a trusted proxy says so in `X-Forwarded-Proto`.
   */
  originOf({ socket, headers }: IncomingMessage): string {
    const isEncrypted = "encrypted" in socket && socket.encrypted === true;
    const isTrusted = this.#trusted.includes(plainAddress(socket.remoteAddress ?? ""));
    const forwarded = isTrusted ? String(headers["x-forwarded-proto"] ?? "") : "";
    const scheme = isEncrypted || /^\s*https\s*(?:,|$)/i.test(forwarded) ? "https" : "http";
    return `${scheme}://${headers.host ?? ""}`;
  }

  /** Returns whether requests from an address are limited by address. */
  isLimited(address: string): boolean {
    return !this.#exempt.includes(address);
  }

  /** Returns whether connections from an address are limited by address; those of a trusted proxy serve many clients. */
  isConnectionLimited(remoteAddress: string): boolean {
    const address = plainAddress(remoteAddress);
    return this.isLimited(address) && !this.#trusted.includes(address);
  }
}

/** Returns the errors of a list of addresses and ranges, each with its JSON pointer. */
export function addressRangeErrors(
  ranges: unknown,
  { pointer, isAllAllowed }: { readonly pointer: string; readonly isAllAllowed: boolean },
): readonly FaultItem[] {
  if (!Array.isArray(ranges)) return [];
  const name = pointer.slice(pointer.lastIndexOf("/") + 1);
  return ranges.flatMap((range: unknown, index): FaultItem[] => {
    if (typeof range !== "string" || isAddressRange(range)) {
      if (isAllAllowed || typeof range !== "string" || !/\/0+$/.test(range)) return [];
      const detail = `${name} must not contain all addresses (got ${quote(range)}): any client could choose its address.`;
      return [{ pointer: `${pointer}/${index}`, code: "not_allowed", detail }];
    }
    const detail = `${name} must be IP addresses or ranges such as 192.0.2.1, 10.0.0.0/8 or fd00::/8 (got ${quote(range)}).`;
    return [{ pointer: `${pointer}/${index}`, code: "malformed", detail }];
  });
}

/** Returns whether text is an IP address or a range in CIDR notation. */
export function isAddressRange(text: string): boolean {
  const [address = "", prefix = "0", ...rest] = text.split("/");
  if (rest.length > 0 || address.includes("%") || isIP(address) === 0) return false;
  return /^[0-9]{1,3}$/.test(prefix) && Number(prefix) <= (isIPv4(address) ? 32 : 128);
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIPv4(address) ? "ipv4" : "ipv6";
}

/** Returns an address of `X-Forwarded-For` without the port and the brackets that some proxies add. */
function withoutPort(text: string): string {
  return /^\[([^\]]*)\](?::[0-9]+)?$/.exec(text)?.[1] ?? /^([0-9.]+):[0-9]+$/.exec(text)?.[1] ?? text;
}
