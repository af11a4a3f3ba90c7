import { createHmac, timingSafeEqual } from "node:crypto";
import type { Ledger } from "../../ledger/ledger.ts";
import { Fault } from "../../errors.ts";

/** Purpose of the secret, part of its derivation. */
const PURPOSE = "map tiles";
/** Tokens expire at a full hour, so that the addresses of tiles, and with them caches of clients, stay the same for an hour. */
const EXPIRY_STEP_S = 3600;
const VALID_S_MAX = 24 * 3600;

const FORM = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([0-9]{1,12})\.([\w-]{43})$/;

/** A token, and when it expires. */
export interface IssuedToken {
  readonly token: string;
  /** Seconds since 1970. */
  readonly expiresAtS: number;
}

/**
 * Issues and verifies tokens that replace an API key in the URLs of map tiles, because map clients send no header fields.
 * A token is valid for one layer and at most 24 hours, and only as long as its key is. The secret that signs tokens belongs
 * to the ledger: restarts keep it, and all hosts of a ledger accept each other's tokens.
 */
export class TileTokens {
  readonly #ledger: Pick<Ledger, "signingSecret">;
  readonly #nowMs: () => number;
  #secret: string | undefined;

  /** @param nowMs milliseconds since 1970 */
  constructor(ledger: Pick<Ledger, "signingSecret">, nowMs: () => number = Date.now) {
    this.#ledger = ledger;
    this.#nowMs = nowMs;
  }

  /**
   * Issues a token for a layer.
   * @param scope names the layer
   */
  async issue(keyId: string, scope: string): Promise<IssuedToken> {
    const latestS = this.#nowMs() / 1000 + VALID_S_MAX;
    const expiresAtS = Math.floor(latestS / EXPIRY_STEP_S) * EXPIRY_STEP_S;
    const signature = signatureOf(await this.#loadSecret(), { keyId, scope, expiresAtS });
    return { token: `${keyId}.${expiresAtS}.${signature.toString("base64url")}`, expiresAtS };
  }

  /**
   * Returns the id of the key for which a token was issued. Returns synchronously once the secret is known.
   * @throws Fault `token_invalid` unless the token was issued for this layer and has not expired
   */
  verify(token: string, scope: string): string | Promise<string> {
    const secret = this.#secret;
    return secret === undefined
      ? this.#loadSecret().then((loaded) => this.#verifyWith(loaded, token, scope))
      : this.#verifyWith(secret, token, scope);
  }

  #verifyWith(secret: string, token: string, scope: string): string {
    const [, keyId = "", expiryText = "", signatureText = ""] = FORM.exec(token) ?? [];
    if (keyId === "")
      throw invalidToken(`The parameter token must be a token of this service (got ${token.length} characters).`);
    const expiresAtS = Number(expiryText);
    const signature = Buffer.from(signatureText, "base64url");
    if (!timingSafeEqual(signature, signatureOf(secret, { keyId, scope, expiresAtS }))) {
      throw invalidToken(
        "The token was not issued by this service for this layer; get the TileJSON of the layer again.",
      );
    }
    if (this.#nowMs() >= expiresAtS * 1000) {
      const expiredAt = new Date(expiresAtS * 1000).toISOString();
      throw invalidToken(`The token expired at ${expiredAt}; get the TileJSON of the layer again.`);
    }
    return keyId;
  }

  async #loadSecret(): Promise<string> {
    this.#secret ??= await this.#ledger.signingSecret(PURPOSE);
    return this.#secret;
  }
}

function signatureOf(
  secret: string,
  { keyId, scope, expiresAtS }: { readonly keyId: string; readonly scope: string; readonly expiresAtS: number },
): Buffer {
  return createHmac("sha256", secret).update(`${keyId}\n${expiresAtS}\n${scope}`).digest();
}

function invalidToken(detail: string): Fault {
  return new Fault("token_invalid", detail, { items: [{ parameter: "token", code: "not_allowed", detail }] });
}
