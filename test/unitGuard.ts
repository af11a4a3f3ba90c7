/** Setup of the unit tests: makes everything that unit tests must not use throw an error, even in dynamic imports. */
import { ChildProcess } from "node:child_process";
import { Server, Socket } from "node:net";
import { vi } from "vitest";

const rejectUse = (what: string) => (): never => {
  throw new Error(`a unit test must not ${what}; name the file *.system.test.ts`);
};

Server.prototype.listen = rejectUse("listen on a socket");
Socket.prototype.connect = rejectUse("open a connection");
(ChildProcess.prototype as unknown as { spawn: unknown }).spawn = rejectUse("start a process");
const { fetch } = globalThis;
// zstddec loads its WebAssembly from a data URL.
globalThis.fetch = (input, init) =>
  typeof input === "string" && input.startsWith("data:") ? fetch(input, init) : rejectUse("use the network")();
// vitest runs these calls before the lines above.
vi.mock("better-sqlite3", () => {
  throw new Error("a unit test must not use SQLite; name the file *.system.test.ts");
});
vi.mock("pg", () => {
  throw new Error("a unit test must not use PostgreSQL; name the file *.system.test.ts");
});
