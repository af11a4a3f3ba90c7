import type { Socket } from "node:net";
import { networkOf } from "../admission/ipAddress.ts";
import { AddressBlocks } from "./addressBlocks.ts";

/**
 * Why a connection was refused: the values of the label `reason` of the metric `isotherm_connections_refused_total`.
 */
export const REFUSAL_REASONS = [
  "too_many_connections",
  "too_many_connections_of_address",
  "too_many_rejections_of_address",
] as const;
export type RefusalReason = (typeof REFUSAL_REASONS)[number];

export interface OpenConnectionsOptions {
  readonly connectionCountMax: number;
  readonly connectionsPerAddressMax: number;
  /** Whether connections from an address are limited by address. */
  readonly isAddressLimited: (remoteAddress: string) => boolean;
  readonly blocks?: AddressBlocks;
}

/** The connections as the metrics show them. */
export interface ConnectionCounts {
  readonly open: number;
  /** Without a request in progress. */
  readonly idle: number;
  readonly evicted: number;
  readonly refused: Readonly<Record<RefusalReason, number>>;
}

/**
 * The open connections. If there are too many, a new connection replaces an idle one: the one that has been idle longest
 * among those that have had no request or whose last request had no valid key, or else among the others. If none is idle,
 * it replaces one whose client, without a valid key, has not read its response for longest.
 */
export class OpenConnections {
  readonly #options: OpenConnectionsOptions;
  readonly #blocks: AddressBlocks;
  /** The open connections, with the network by which they are limited, if they are. */
  readonly #sockets = new Map<Socket, string | undefined>();
  /** Idle connections, the one that has been idle longest first. */
  readonly #idleUnauthenticated = new Set<Socket>();
  readonly #idleAuthenticated = new Set<Socket>();
  /** Connections whose client, without a valid key, has not read the whole response yet, in the order of the responses. */
  readonly #unread = new Set<Socket>();
  readonly #countByNetwork = new Map<string, number>();
  readonly #refusedCounts: Record<RefusalReason, number> = {
    too_many_connections: 0,
    too_many_connections_of_address: 0,
    too_many_rejections_of_address: 0,
  };
  #evictedCount = 0;

  constructor(options: OpenConnectionsOptions) {
    this.#options = options;
    this.#blocks = options.blocks ?? new AddressBlocks();
  }

  get sockets(): Iterable<Socket> {
    return this.#sockets.keys();
  }

  get counts(): ConnectionCounts {
    return {
      open: this.#sockets.size,
      idle: this.#idleUnauthenticated.size + this.#idleAuthenticated.size,
      evicted: this.#evictedCount,
      refused: this.#refusedCounts,
    };
  }

  /** Adds a new connection, or closes it. @returns whether it was added */
  add(socket: Socket): boolean {
    const { connectionCountMax, connectionsPerAddressMax, isAddressLimited } = this.#options;
    const address = socket.remoteAddress ?? "";
    const network = isAddressLimited(address) ? networkOf(address) : undefined;
    const networkCount = this.#countOf(network);
    if (network !== undefined && this.#blocks.isBlocked(network)) {
      return this.#refuse(socket, "too_many_rejections_of_address");
    }
    if (networkCount >= connectionsPerAddressMax) return this.#refuse(socket, "too_many_connections_of_address");
    if (this.#sockets.size >= connectionCountMax && !this.#evict()) return this.#refuse(socket, "too_many_connections");
    this.#sockets.set(socket, network);
    this.#idleUnauthenticated.add(socket);
    if (network !== undefined) this.#countByNetwork.set(network, networkCount + 1);
    socket.once("close", () => this.#remove(socket, network));
    return true;
  }

  /** Records that a request has arrived on a connection. */
  setBusy(socket: Socket): void {
    if (!this.#idleUnauthenticated.delete(socket)) this.#idleAuthenticated.delete(socket);
  }

  /** Records that all requests of a connection have been answered. */
  setIdle(socket: Socket, { isAuthenticated }: { readonly isAuthenticated: boolean }): void {
    if (!this.#sockets.has(socket)) return;
    (isAuthenticated ? this.#idleAuthenticated : this.#idleUnauthenticated).add(socket);
  }

  /** Records whether a response to a request without a valid key has been written but not read yet. */
  setUnread(socket: Socket, isUnread: boolean): void {
    if (!isUnread) this.#unread.delete(socket);
    else if (this.#sockets.has(socket)) this.#unread.add(socket);
  }

  /** Records that a request had a valid key. */
  countValidKey(socket: Socket): void {
    const network = this.#sockets.get(socket);
    if (network !== undefined) this.#blocks.countValidKey(network);
  }

  /** Records that a request was invalid HTTP, or rejected because its client has sent too many without a valid key. */
  countRejection(socket: Socket): void {
    const network = this.#sockets.get(socket);
    if (network !== undefined) this.#blocks.countRejection(network);
  }

  #evict(): boolean {
    const candidates = [this.#idleUnauthenticated, this.#idleAuthenticated, this.#unread];
    const [oldest] = candidates.find(({ size }) => size > 0) ?? [];
    if (oldest === undefined) return false;
    this.#evictedCount++;
    oldest.destroy();
    // Removed now, not only when the connection reports its end, so that each new connection evicts a different one.
    this.#forget(oldest);
    return true;
  }

  #refuse(socket: Socket, reason: RefusalReason): false {
    this.#refusedCounts[reason]++;
    // Without the states that a connection goes through until both sides have closed it.
    socket.resetAndDestroy();
    return false;
  }

  #remove(socket: Socket, network: string | undefined): void {
    this.#forget(socket);
    if (network === undefined) return;
    const leftCount = this.#countOf(network) - 1;
    if (leftCount <= 0) this.#countByNetwork.delete(network);
    else this.#countByNetwork.set(network, leftCount);
  }

  #forget(socket: Socket): void {
    this.#sockets.delete(socket);
    this.setBusy(socket);
    this.#unread.delete(socket);
  }

  /** @param network undefined for connections that are not limited by address */
  #countOf(network: string | undefined): number {
    return network === undefined ? 0 : (this.#countByNetwork.get(network) ?? 0);
  }
}
