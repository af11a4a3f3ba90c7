import { Command, InvalidArgumentError, Option } from "commander";
import { withoutSecrets } from "../atlas/address.ts";
import { Fault } from "../errors.ts";
import { serve } from "../host/main.ts";
import { openAtlas } from "../openAtlas.ts";

interface ServeFlags {
  readonly demo?: true;
  readonly atlas?: string;
  readonly host: string;
  readonly port: number;
  readonly cache?: number;
}

/** `isotherm serve`: answers HTTP until it is told to stop by SIGINT or SIGTERM. */
export function serveCommand(): Command {
  const command = new Command("serve");
  return command
    .description("answer over HTTP, on this machine alone until there are keys")
    .addOption(new Option("--demo", "serve the synthetic demo atlas; its numbers are invented"))
    .addOption(new Option("--atlas <atlas>", 'folder or http(s) address of an atlas, or "demo"').env("ISOTHERM_ATLAS"))
    .addOption(new Option("--host <address>", "loopback address").env("ISOTHERM_HOST").default("127.0.0.1"))
    .addOption(new Option("--port <port>", "0 takes a free one").env("ISOTHERM_PORT").default(8080).argParser(readPort))
    .addOption(new Option("--cache <MiB>", "memory for decoded tiles (default: 512)").argParser(readMebibytes))
    .action((flags: ServeFlags) => run(atlasAddress(flags, command.getOptionValueSource("atlas")), flags));
}

async function run(address: string, { host, port, cache }: ServeFlags): Promise<void> {
  process.stdout.off("error", goOn).on("error", goOn);
  const atlas = await openAtlas(address, cache === undefined ? {} : { cacheBytes: cache * 2 ** 20 });
  try {
    const running = await serve({ atlas, host, port, log: (record) => write(JSON.stringify(record)) });
    const stopped = nextStopSignal();
    const { url } = running.address;
    write(`Isotherm listens on ${url}`);
    write(`Atlas: ${withoutSecrets(address)}, release ${atlas.release}`);
    if (atlas.synthetic) write("SYNTHETIC: every number of this atlas is invented. Decide nothing by it.");
    write("There are no keys yet: whoever can reach this address may ask, so it listens on loopback only.");
    write("Try it:");
    write(`  curl '${url}/api/v1/hazard-risk?${EXAMPLE}'`);
    await stopped;
    write("Stopping: what is under way is finished first.");
    await running.close();
  } finally {
    await atlas.close();
  }
}

/** Whoever read what the service writes may stop reading: that is no reason to stop answering. */
function goOn(): void {}

/** A circle of 10 km around Djibouti. */
const EXAMPLE =
  "latitude=11.59&longitude=43.15&hazards=riverine_floods,coastal_floods&analysis_years=2050&scenarios=rcp8p5&radius=10";

/** The demo named on the command line goes before an atlas named by the environment; two named there are a slip. */
function atlasAddress({ demo, atlas }: ServeFlags, atlasFrom: string | undefined): string {
  if (demo === true && atlas !== undefined && atlasFrom === "cli") {
    throw new Fault("configuration_invalid", "--demo and --atlas name two atlases; give one of them.");
  }
  if (demo === true) return "demo";
  if (atlas !== undefined) return atlas;
  const message = "There is no atlas to serve: give --atlas with a folder, or --demo for synthetic numbers.";
  throw new Fault("configuration_invalid", message);
}

function readPort(text: string): number {
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : NaN;
  if (port <= 65_535) return port;
  throw new InvalidArgumentError("It must be a whole number from 0 to 65535.");
}

function readMebibytes(text: string): number {
  const mebibytes = /^[0-9]{1,5}$/.test(text) ? Number(text) : NaN;
  if (mebibytes >= 16 && mebibytes <= 3072) return mebibytes;
  throw new InvalidArgumentError("It must be a whole number from 16 to 3072.");
}

/** Resolves at the first request to stop. A second one ends the process at once, as it does everywhere. */
function nextStopSignal(): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      process.off("SIGINT", stop).off("SIGTERM", stop);
      resolve();
    };
    process.on("SIGINT", stop).on("SIGTERM", stop);
  });
}

function write(line: string): void {
  process.stdout.write(`${line}\n`);
}
