import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { AddressBlocks } from "../../../src/host/http/addressBlocks.ts";
import { OpenConnections } from "../../../src/host/http/openConnections.ts";

const PROXY = "2001:db8::10";

function connectionsOf(connectionCountMax: number) {
  return new OpenConnections({
    connectionCountMax,
    connectionsPerAddressMax: 2,
    isAddressLimited: (address) => address !== PROXY,
    blocks: new AddressBlocks({ nowMs: () => 0 }),
  });
}

/** Returns a connection that is not open anywhere. */
function socketFrom(remoteAddress: string): Socket {
  const close = (): void => void socket.emit("close");
  const socket = Object.assign(new EventEmitter(), { remoteAddress, destroy: close, resetAndDestroy: close });
  return socket as unknown as Socket;
}

test("an address without limits is not blocked with its network", () => {
  const connections = connectionsOf(10);
  const attacker = socketFrom("2001:db8::bad");
  connections.add(attacker);
  for (let i = 0; i <= 100; i++) connections.countRejection(attacker);
  expect(connections.add(socketFrom("2001:db8::1"))).toBe(false);
  expect(connections.add(socketFrom(PROXY))).toBe(true);
  expect(connections.counts.refused).toStrictEqual({
    too_many_connections: 0,
    too_many_connections_of_address: 0,
    too_many_rejections_of_address: 1,
  });
});

test("a new connection replaces one with an unread response if none is idle", () => {
  const connections = connectionsOf(3);
  const [idle, unread, busy] = ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map(socketFrom) as [Socket, Socket, Socket];
  const closed: Socket[] = [];
  for (const socket of [idle, unread, busy]) {
    connections.add(socket);
    socket.once("close", () => closed.push(socket));
  }
  for (const socket of [unread, busy]) {
    connections.setBusy(socket);
    connections.setUnread(socket, true);
  }
  connections.setUnread(busy, false);
  // Further requests that the client sends do not keep the connection open.
  connections.setBusy(unread);
  const added = ["192.0.2.4", "192.0.2.5", "192.0.2.6"].map((address) => {
    const socket = socketFrom(address);
    const isAdded = connections.add(socket);
    connections.setBusy(socket);
    return isAdded;
  });
  expect([added, closed]).toStrictEqual([
    [true, true, false],
    [idle, unread],
  ]);
  expect(connections.counts).toMatchObject({ open: 3, evicted: 2 });
});

test("connections of an address without limits do not count toward those of its network", () => {
  const connections = connectionsOf(10);
  const proxied = Array.from({ length: 3 }, () => socketFrom(PROXY));
  expect(proxied.map((socket) => connections.add(socket))).toStrictEqual([true, true, true]);
  const own = Array.from({ length: 3 }, () => socketFrom("2001:db8::1"));
  expect(own.map((socket) => connections.add(socket))).toStrictEqual([true, true, false]);
  for (const socket of proxied) socket.destroy();
  expect(connections.add(socketFrom("2001:db8::2"))).toBe(false);
  own[0]?.destroy();
  expect(connections.add(socketFrom("2001:db8::2"))).toBe(true);
});
