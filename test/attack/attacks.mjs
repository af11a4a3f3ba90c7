/**
 * The attacks of test/attack, as clients that send raw bytes. `attacker.ts` runs one of them in its own process, so that
 * the attack does not slow down the clients that a test measures:
 *
 *   node test/attack/attacks.mjs <name> '<settings as JSON>'
 *
 * It prints "started" once the attack is under way. When its standard input closes, it ends the attack and prints the
 * number of its connections and of the responses by status (0: the connection closed without one) as JSON.
 *
 * To add an attack, add a function to ATTACKS.
 */
import { createHash } from "node:crypto";
import { connect } from "node:net";
import { setTimeout } from "node:timers/promises";

/**
 * @typedef {object} Settings
 * @property {number} port
 * @property {Record<string, string>} headers authentication headers of the attacking account
 * @property {number} size number of connections
 * @property {string} [localAddress] loopback address that the connections come from
 * @property {number} [seed]
 *
 * @typedef {object} Attack
 * @property {number} port
 * @property {Record<string, string>} headers
 * @property {number} size
 * @property {string} [localAddress]
 * @property {number} seed
 * @property {boolean} isOver
 * @property {Record<string, number>} statuses responses by status
 * @property {number} connectionCount connections opened so far
 */

const HAZARDS = "/api/v1/hazard-risk?latitude=1&longitude=2&hazards=wildfire&analysis_years=2050&scenarios=rcp8p5";
const ALIGNMENT = "/api/v1/temperature-alignment-projections";
/**
 * Pause of a client whose connection was refused or closed. Without it, an attack mainly measures how fast a machine opens
 * connections, which it shares with the service.
 */
const RETRY_PAUSE_MS = 1_000;
/** Time after which the client of an unread body starts again. */
const UNREAD_BODY_MS = 2_000;
const START_TIMEOUT_MS = 30_000;
/** Bytes of the bodies that are much larger than their content. */
const LARGE_BODY_BYTES = 8 << 20;
/** Its lists are estimated at 135 MiB. */
const LISTS_BODY_BYTES = 3.85 * 2 ** 20;

/** @type {Record<string, (attack: Attack) => Promise<void>>} */
const ATTACKS = {
  /** Requests with keys that do not exist, each a different one. */
  "random keys": (attack) =>
    onEveryConnection(attack, (index) => {
      let count = 0;
      return exchangeRepeatedly(attack, () =>
        head(`GET ${HAZARDS}`, { "X-API-Key": randomKey(`${attack.seed} ${index} ${count++}`) }),
      );
    }),

  /** Connections that send one request without a key and then stay idle. */
  "idle connections": (attack) =>
    onEveryConnection(attack, async () => {
      const socket = await open(attack);
      await exchange(attack, socket, head("GET /healthz"));
      await ended(attack, socket);
      if (!attack.isOver) await setTimeout(RETRY_PAUSE_MS);
    }),

  /** Requests that need no key. */
  "open routes": (attack) =>
    onEveryConnection(attack, () => exchangeRepeatedly(attack, () => head("GET /openapi.json"))),

  /** Health checks and OPTIONS requests, which need no key and are cheap to answer. */
  "light requests": (attack) =>
    onEveryConnection(attack, (index) =>
      exchangeRepeatedly(attack, () => head(index % 2 === 0 ? "GET /healthz" : "OPTIONS /api/v1/limits")),
    ),

  /** Query strings of as many different names as fit in a request, half of them without a key. */
  "unknown parameters": (attack) => {
    const names = Array.from({ length: 3_500 }, (_, i) => `${i.toString(36)}=`).join("&");
    const requests = [
      head(`GET /api/v1/hazard-risk?${names}`, attack.headers),
      head(`GET /api/v1/tiles/cyclones/rcp8p5/2050/max_speed/3/1/1.png?${names}`),
    ];
    return onEveryConnection(attack, (index) => exchangeRepeatedly(attack, () => requests[index % requests.length]));
  },

  /** Bodies of chunks of one byte. */
  "chunked bodies": (attack) =>
    onEveryConnection(attack, async () => {
      const socket = await open(attack);
      socket.write(head(`POST ${ALIGNMENT}`, { ...attack.headers, ...JSON_TYPE, "Transfer-Encoding": "chunked" }));
      const chunks = Buffer.from("1\r\n \r\n".repeat(10_000));
      while (!attack.isOver && socket.writable) await write(socket, chunks);
      socket.destroy();
    }),

  /** The same without a key, and behind another request. */
  "unread chunked bodies": (attack) => {
    const chunked = { ...JSON_TYPE, "Transfer-Encoding": "chunked" };
    const heads = [
      head(`POST ${ALIGNMENT}`, chunked),
      head("GET /api/v1/limits", attack.headers) + head(`POST ${ALIGNMENT}`, { ...attack.headers, ...chunked }),
    ];
    const chunks = Buffer.from("1\r\n \r\n".repeat(100_000));
    return onEveryConnection(attack, async (index) => {
      const socket = await open(attack);
      socket.write(heads[index % heads.length]);
      socket.write(chunks);
      await Promise.race([ended(attack, socket), setTimeout(UNREAD_BODY_MS)]);
      socket.destroy();
      if (!attack.isOver) await setTimeout(RETRY_PAUSE_MS);
    });
  },

  /** Bodies of 8 MiB with as many keys as possible. */
  "keys bodies": (attack) => {
    const members = Array.from({ length: LARGE_BODY_BYTES / 16 }, (_, i) => `"k${i.toString(36)}":0`);
    const body = Buffer.from(`{${members.join(",").slice(0, LARGE_BODY_BYTES - 2)}}`);
    return onEveryConnection(attack, (index) =>
      exchangeRepeatedly(attack, () => post(attack, index % 2 === 0 ? "/api/v1/customers" : ALIGNMENT, body)),
    );
  },

  /**
   * Bodies with as many nested lists as are parsed: of 8 MiB, whose values would take more memory than one account may use, and
   * of the largest size that is parsed with `--memory 1024`.
   */
  "lists bodies": (attack) => {
    const bodies = [LARGE_BODY_BYTES, LISTS_BODY_BYTES].map(listsOf);
    return onEveryConnection(attack, (index) =>
      exchangeRepeatedly(attack, () => post(attack, ALIGNMENT, bodies[index % bodies.length])),
    );
  },

  /** Batches of 500 large circles in places that nobody has requested before. */
  "cold circles": (attack) =>
    onEveryConnection(attack, (index) => {
      let count = 0;
      return exchangeRepeatedly(attack, () => {
        const random = randomNumbers(`${attack.seed} ${index} ${count++}`);
        const queries = Array.from({ length: 500 }, () => ({
          latitude: Math.round((random() * 120 - 60) * 1e4) / 1e4,
          longitude: Math.round((random() * 360 - 180) * 1e4) / 1e4,
          radius: 50,
          hazards: ["riverine_floods"],
          analysis_years: [2050],
          scenarios: ["rcp8p5"],
        }));
        return post(attack, "/api/v1/hazard-risk/batch", Buffer.from(JSON.stringify(queries)));
      });
    }),

  /** Usage reports whose client leaves at once. */
  "abandoned usage reports": (attack) =>
    onEveryConnection(attack, async () => {
      const socket = await open(attack);
      await write(socket, head("GET /latest/api/v1/usage?format=csv&group_by=customer,meter,day", attack.headers));
      await setTimeout(20);
      socket.destroy();
    }),

  /** Large responses that are not read. */
  "slow readers": (attack) => {
    const query = {
      latitude: 21,
      longitude: 121,
      hazards: ["cyclones"],
      analysis_years: [2030, 2050],
      scenarios: ["rcp8p5"],
    };
    const body = Buffer.from(JSON.stringify(Array.from({ length: 3_000 }, () => query)));
    return onEveryConnection(attack, async () => {
      const socket = await open(attack);
      socket.pause();
      await write(socket, post(attack, "/api/v1/hazard-risk/batch", body));
      await Promise.race([ended(attack, socket), setTimeout(2_000)]);
      socket.destroy();
    });
  },
};

const JSON_TYPE = { "Content-Type": "application/json" };

/** Runs a client on each connection again and again until the attack is over. */
async function onEveryConnection(attack, runClient) {
  await Promise.all(
    Array.from({ length: attack.size }, async (_, index) => {
      while (!attack.isOver) {
        try {
          await runClient(index);
        } catch {
          // Refused: the connection could not be opened, or was closed.
          await setTimeout(RETRY_PAUSE_MS);
        }
      }
    }),
  );
}

/** Sends one request after the other on a connection until the server closes it. */
async function exchangeRepeatedly(attack, nextRequest) {
  const socket = await open(attack);
  while (!attack.isOver && !socket.destroyed) await exchange(attack, socket, nextRequest());
  socket.destroy();
  if (!attack.isOver) await setTimeout(RETRY_PAUSE_MS);
}

/** Opens a connection. @throws Error if it is refused */
async function open(attack) {
  const socket = connect({ host: "127.0.0.1", port: attack.port, localAddress: attack.localAddress, noDelay: true });
  attack.connectionCount++;
  await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  socket.on("error", () => undefined);
  return socket;
}

/** Sends a request and waits for its complete response. */
async function exchange(attack, socket, bytes) {
  const status = await new Promise((resolve) => {
    let text = "";
    let missingCount = Infinity;
    const settle = (value) => {
      socket.off("data", onData).off("close", onClose);
      resolve(value);
    };
    const onClose = () => settle(0);
    const onData = (chunk) => {
      if (missingCount === Infinity) {
        text += chunk.toString("latin1");
        const headEnd = text.indexOf("\r\n\r\n");
        if (headEnd < 0) return;
        missingCount = headEnd + 4 + Number(/^content-length: (\d+)/im.exec(text)?.[1] ?? 0) - text.length;
      } else missingCount -= chunk.length;
      if (missingCount > 0) return;
      if (/^connection: close\r/im.test(text.slice(0, text.indexOf("\r\n\r\n") + 2))) socket.destroy();
      settle(Number(text.slice(9, 12)));
    };
    socket.on("data", onData).on("close", onClose);
    if (socket.destroyed) onClose();
    else socket.write(bytes);
  });
  attack.statuses[status] = (attack.statuses[status] ?? 0) + 1;
}

/** Resolves when the connection has closed or the attack is over. */
async function ended(attack, socket) {
  while (!attack.isOver && !socket.destroyed) await setTimeout(100);
  socket.destroy();
}

/** Returns a body of nested lists. */
function listsOf(sizeBytes) {
  const unit = `${"[".repeat(14)}${"]".repeat(14)}`;
  const count = Math.floor((sizeBytes - 2) / (unit.length + 1));
  return Buffer.from(`[${Array.from({ length: count }, () => unit).join(",")}]`);
}

function write(socket, bytes) {
  return new Promise((resolve) => {
    if (socket.destroyed) {
      resolve();
      return;
    }
    socket.once("close", resolve);
    socket.write(bytes, () => {
      socket.off("close", resolve);
      resolve();
    });
  });
}

/** Returns the head of a request, with the empty line that ends it. */
function head(line, fields = {}) {
  const lines = Object.entries({ Host: "h", ...fields }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${line} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

function post({ headers }, path, body) {
  const fields = { ...headers, ...JSON_TYPE, "Content-Length": String(body.length) };
  return Buffer.concat([Buffer.from(head(`POST ${path}`, fields)), body]);
}

/** Returns text with the form of a key. */
function randomKey(seed) {
  return `iso_sk_${createHash("sha256").update(seed).digest("hex")}`;
}

/** Returns a generator of numbers from 0 to 1 (xorshift). */
function randomNumbers(seed) {
  let state = createHash("sha256").update(seed).digest().readUInt32LE(0) | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

const count = (statuses) => Object.values(statuses).reduce((sum, value) => sum + value, 0);

async function main([name = "", settings = "{}"]) {
  const run = ATTACKS[name];
  if (run === undefined) throw new Error(`There is no attack "${name}".`);
  const attack = { seed: 1, ...JSON.parse(settings), isOver: false, statuses: {}, connectionCount: 0 };
  process.stdin.resume().once("close", () => (attack.isOver = true));
  const finished = run(attack);
  const isUnderWay = () =>
    (name === "idle connections" ? count(attack.statuses) : attack.connectionCount) >= attack.size;
  for (let i = 0; i < START_TIMEOUT_MS / 20 && !isUnderWay(); i++) await setTimeout(20);
  process.stdout.write("started\n");
  while (!attack.isOver) await setTimeout(20);
  // Clients that wait for a response need not finish.
  await Promise.race([finished, setTimeout(500)]);
  const { connectionCount, statuses } = attack;
  process.stdout.write(`${JSON.stringify({ connectionCount, statuses })}\n`, () => process.exit(0));
}

await main(process.argv.slice(2));
