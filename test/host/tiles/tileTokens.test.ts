import { describe, expect, test } from "vitest";
import { TileTokens } from "../../../src/host/tiles/tileTokens.ts";
import { Fault } from "../../../src/errors.ts";

const KEY_ID = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
const LAYER = "riverine_floods/rcp8p5/2050/depth_meters";
const HOUR_MS = 3_600_000;
/** 20 minutes past a full hour. */
const NOW_MS = Date.UTC(2026, 0, 15, 9, 20);

function tokensOf(secret: string, nowMs = () => NOW_MS) {
  return new TileTokens({ signingSecret: (purpose) => Promise.resolve(`${secret} ${purpose}`) }, nowMs);
}

async function messageOf(verify: () => string | Promise<string>): Promise<string> {
  try {
    await verify();
  } catch (error) {
    if (error instanceof Fault && error.code === "token_invalid") return error.message;
    throw error;
  }
  return "accepted";
}

describe("tokens of map tiles", () => {
  test("name the key until they expire, at a full hour within 24 hours", async () => {
    let nowMs = NOW_MS;
    const tokens = tokensOf("secret", () => nowMs);
    const { token, expiresAtS } = await tokens.issue(KEY_ID, LAYER);
    expect(expiresAtS).toBe(Date.UTC(2026, 0, 16, 9) / 1000);
    nowMs = expiresAtS * 1000 - 1;
    expect(await tokens.verify(token, LAYER)).toBe(KEY_ID);
    nowMs += 1;
    expect(await messageOf(() => tokens.verify(token, LAYER))).toMatch(
      /^The token expired at 2026-01-16T09:00:00.000Z/,
    );
  });

  test("stay the same within an hour, so that clients can cache tiles, and differ by key and layer", async () => {
    const issue = async (afterMs: number, keyId = KEY_ID, layer = LAYER) =>
      (await tokensOf("secret", () => NOW_MS + afterMs).issue(keyId, layer)).token;
    const token = await issue(0);
    expect(await issue(0.6 * HOUR_MS)).toBe(token);
    expect(await issue(0.7 * HOUR_MS)).not.toBe(token);
    expect(await issue(0, KEY_ID.replace("3f", "40"))).not.toBe(token);
    expect(await issue(0, KEY_ID, `${LAYER}x`)).not.toBe(token);
    expect(encodeURIComponent(token)).toBe(token);
  });

  test("are verified synchronously once the secret is loaded", async () => {
    const tokens = tokensOf("secret");
    const { token } = await tokensOf("secret").issue(KEY_ID, LAYER);
    expect(tokens.verify(token, LAYER)).toBeInstanceOf(Promise);
    await tokens.verify(token, LAYER);
    expect(tokens.verify(token, LAYER)).toBe(KEY_ID);
  });

  test("read the secret from the ledger once", async () => {
    let readCount = 0;
    const tokens = new TileTokens({ signingSecret: () => Promise.resolve(`secret ${++readCount}`) }, () => NOW_MS);
    const { token } = await tokens.issue(KEY_ID, LAYER);
    await tokens.issue(KEY_ID, `${LAYER}x`);
    expect(await tokens.verify(token, LAYER)).toBe(KEY_ID);
    expect(readCount).toBe(1);
  });

  test("are rejected for another layer, and with the secret of another ledger", async () => {
    const { token } = await tokensOf("secret").issue(KEY_ID, LAYER);
    const other = /was not issued by this service for this layer/;
    expect(await messageOf(() => tokensOf("secret").verify(token, LAYER.replace("2050", "2030")))).toMatch(other);
    expect(await messageOf(() => tokensOf("other").verify(token, LAYER))).toMatch(other);
  });

  test("are rejected if any character was changed", async () => {
    const tokens = tokensOf("secret");
    const { token } = await tokens.issue(KEY_ID, LAYER);
    expect(await messageOf(() => tokens.verify(token, LAYER))).toBe("accepted");
    // The last character has bits that base64url ignores.
    for (let at = 0; at < token.length - 1; at++) {
      const changed = `${token.slice(0, at)}${token[at] === "7" ? "8" : "7"}${token.slice(at + 1)}`;
      expect({ at, message: await messageOf(() => tokens.verify(changed, LAYER)) }).not.toMatchObject({
        message: "accepted",
      });
    }
  });

  test("with a later expiry are rejected", async () => {
    const tokens = tokensOf("secret");
    const { token, expiresAtS } = await tokens.issue(KEY_ID, LAYER);
    const later = token.replace(String(expiresAtS), String(expiresAtS + 3600));
    expect(await messageOf(() => tokens.verify(later, LAYER))).toMatch(/was not issued/);
  });

  test.each([
    "",
    "x",
    KEY_ID,
    `${KEY_ID}.1.`,
    `${KEY_ID}.99999999999999.${"a".repeat(43)}`,
    `${KEY_ID}.1.${"é".repeat(43)}`,
    `${KEY_ID}.1.${"a".repeat(42)}`,
    `${KEY_ID}.1.${"a".repeat(44)}`,
  ])("reject text that is no token: %j", async (text) => {
    expect(await messageOf(() => tokensOf("secret").verify(text, LAYER))).toBe(
      `The parameter token must be a token of this service (got ${text.length} characters).`,
    );
  });

  test("are not issued while the secret cannot be read, and are once it can", async () => {
    let isAvailable = false;
    const ledger = {
      signingSecret: () => (isAvailable ? Promise.resolve("secret") : Promise.reject(new Error("not available"))),
    };
    const tokens = new TileTokens(ledger, () => NOW_MS);
    await expect(tokens.issue(KEY_ID, LAYER)).rejects.toThrow("not available");
    isAvailable = true;
    expect((await tokens.issue(KEY_ID, LAYER)).token).toContain(KEY_ID);
  });
});
