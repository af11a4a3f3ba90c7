// Counts the files and functions of dist/ that one GET of a point enters, from the socket to the first call of a kernel, and to
// the end of the response:
//
//   node scripts/requestPath.mjs              prints both counts
//   node scripts/requestPath.mjs --functions  prints the functions, too
//
// V8 counts the calls of every function (precise coverage), which includes inlined ones. Counted are the functions of dist/
// that the request enters, each once, after the same request has been sent often enough that everything is cached; not those
// of Node.js, of bundled packages and of kernels, and not the initializers of members, which belong to their constructor.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { Session } from "node:inspector";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const dist = new URL("../dist/", import.meta.url);
const QUERY = "latitude=51.5&longitude=-0.1&hazards=riverine_floods&analysis_years=2050&scenarios=rcp8p5";
const WARM_UP_COUNT = 20;

/** @returns {Promise<Record<"toKernel" | "toResponse", {file: string, name: string}[]>>} the functions that are entered */
export async function countRequestPath() {
  const load = (file) => import(new URL(file, dist).href);
  const { serve, openAtlas, openLedger } = await load("host/main.js");
  const { FieldGrid } = await load("kernel/field.js");
  const data = mkdtempSync(join(tmpdir(), "isotherm-path-"));
  const [atlas, ledger] = await Promise.all([openAtlas("demo"), openLedger({ data })]);
  const { accountId } = await ledger.createAccount({ name: "Path" });
  const { secret } = await ledger.createKey({ accountId });
  const { customer } = await ledger.registerCustomer({ accountId, internalId: "path" });
  const service = await serve({ atlas, ledger, host: "127.0.0.1", port: 0, warmUp: false, ownsResources: true });
  await service.ready;
  const lines = ["Host: h", `X-API-Key: ${secret}`, `X-Customer-ID: ${customer.customerId}`, "", ""];
  const request = [`GET /api/v1/hazard-risk?${QUERY} HTTP/1.1`, ...lines].join("\r\n");
  const socket = connect(service.address.port, "127.0.0.1");
  const session = new Session();
  session.connect();
  const { cellOf } = FieldGrid.prototype;
  try {
    const send = async () => {
      socket.write(request);
      const [response] = await once(socket, "data");
      if (!String(response).startsWith("HTTP/1.1 200 ")) throw new Error(String(response));
    };
    for (let i = 0; i < WARM_UP_COUNT; i++) await send();
    session.post("Profiler.enable");
    session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
    await send();
    takeCalls(session);
    let toKernel;
    // The first kernel that a point needs, in a function of src/kernel/field.ts.
    FieldGrid.prototype.cellOf = function (latDeg, lonDeg) {
      toKernel ??= [...takeCalls(session), { file: "kernel/field.js", name: "cellOf" }];
      return cellOf.call(this, latDeg, lonDeg);
    };
    await send();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const known = new Set(toKernel.map(({ file, name, at }) => `${file} ${name} ${at}`));
    const rest = takeCalls(session).filter(
      ({ file, name, at }) => name !== "cellOf" && !known.has(`${file} ${name} ${at}`),
    );
    return { toKernel, toResponse: [...toKernel, ...rest] };
  } finally {
    FieldGrid.prototype.cellOf = cellOf;
    session.disconnect();
    socket.destroy();
    await service.close();
    rmSync(data, { recursive: true, force: true });
  }
}

/** Returns the functions of dist/ that were called since the last call. */
function takeCalls(session) {
  let scripts;
  session.post("Profiler.takePreciseCoverage", (error, coverage) => {
    if (error !== null) throw error;
    scripts = coverage.result;
  });
  return scripts.flatMap(({ url, functions }) => {
    if (!url.startsWith(dist.href) || url.startsWith(new URL("bundled/", dist).href)) return [];
    const called = functions.filter(({ functionName, ranges: [range] }) => {
      return range.count > 0 && functionName !== "<instance_members_initializer>";
    });
    const file = url.slice(dist.href.length);
    return called.map(({ functionName, ranges: [{ startOffset }] }) => ({
      file,
      name: functionName || "(anonymous)",
      at: startOffset,
    }));
  });
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.chdir(fileURLToPath(new URL("..", import.meta.url)));
  for (const [path, functions] of Object.entries(await countRequestPath())) {
    const files = Map.groupBy(functions, ({ file }) => file);
    console.log(`${path}: ${files.size} files, ${functions.length} functions`);
    if (!process.argv.includes("--functions")) continue;
    for (const [file, called] of files) console.log(`  ${file}: ${called.map(({ name }) => name).join(", ")}`);
  }
}
