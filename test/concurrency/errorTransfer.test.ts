import { describe, expect, test } from "vitest";
import { Fault } from "../../src/errors.ts";
import { packError, registerErrorClass, unpackError } from "../../src/concurrency/errorTransfer.ts";

/** Packs, clones and unpacks an error, as sending it to another thread does. */
const transfer = (error: unknown): Error => unpackError(structuredClone(packError(error)));

/** An error class that is not registered by default. */
class Rejection extends Error {
  override readonly name = "Rejection";
  readonly headers: Readonly<Record<string, string>>;

  constructor(message: string, headers: Readonly<Record<string, string>>) {
    super(message);
    this.headers = headers;
  }
}

describe("an error sent between threads", () => {
  test("keeps class, members, stack and causes of a Fault", () => {
    const cause = Object.assign(new TypeError("EIO: i/o error", { cause: "disk" }), { code: "EIO" });
    const items = [{ pointer: "/a", code: "missing", detail: "a is required." }] as const;
    const fault = new Fault("atlas_unavailable", "tiles.pack is truncated.", { details: { file: "f" }, items, cause });
    const received = transfer(fault);
    expect(received).toBeInstanceOf(Fault);
    expect(received).toMatchObject({
      code: "atlas_unavailable",
      message: fault.message,
      details: { file: "f" },
      items,
    });
    expect(received.stack).toBe(fault.stack);
    expect(received.cause).toMatchObject({ name: "TypeError", message: "EIO: i/o error", code: "EIO" });
    expect((received.cause as Error).stack).toBe(cause.stack);
    expect((received.cause as Error).cause).toMatchObject({ name: "string", message: "disk" });
  });

  test("without a cause is received without one", () => {
    expect("cause" in transfer(new Error("x"))).toBe(false);
    expect(transfer(new Fault("invalid_request", "x")).cause).toBeUndefined();
  });

  test("keeps the members of a registered class", () => {
    const error = new Rejection("busy", { "Retry-After": "3" });
    expect(transfer(error)).not.toBeInstanceOf(Rejection);
    registerErrorClass<Rejection>({
      name: "Rejection",
      isInstance: (each): each is Rejection => each instanceof Rejection,
      members: ({ headers }) => ({ headers }),
      restore: (message, { headers }) => new Rejection(message, headers as Rejection["headers"]),
    });
    expect(transfer(error)).toBeInstanceOf(Rejection);
    expect(transfer(error)).toMatchObject({ message: "busy", headers: { "Retry-After": "3" } });
  });

  test("that only has the name of a registered class stays a plain error", () => {
    expect(transfer(Object.assign(new Error("x"), { name: "Fault" }))).not.toBeInstanceOf(Fault);
  });

  test("keeps at most four causes", () => {
    let error = new Error("0");
    for (let i = 1; i < 8; i++) error = new Error(String(i), { cause: error });
    const messages: string[] = [];
    for (let received: unknown = transfer(error); received instanceof Error; received = received.cause)
      messages.push(received.message);
    expect(messages).toEqual(["7", "6", "5", "4", "3"]);
  });
});
