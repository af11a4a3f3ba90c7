#!/usr/bin/env node
import { Command } from "commander";
import { isFault } from "../errors.ts";
import { atlasCommand } from "./atlas.ts";
import { ingestCommand } from "./ingest.ts";
import { queryCommand } from "./query.ts";
import { serveCommand } from "./serve.ts";
import { version } from "./version.ts";

const program = new Command("isotherm")
  .description("What the climate will do at any place on Earth: cyclones, wildfire, coastal and river floods.")
  .version(version, "-V, --version")
  .showHelpAfterError("(add --help for what there is)")
  .addCommand(serveCommand())
  .addCommand(ingestCommand())
  .addCommand(atlasCommand())
  .addCommand(queryCommand());

giveVersion(program);

try {
  await program.parseAsync();
} catch (error) {
  if (!isFault(error)) throw error;
  process.stderr.write(`isotherm: ${error.message}\n`);
  for (const item of error.items) {
    const place = item.pointer ?? item.parameter ?? item.header;
    process.stderr.write(`  ${place === undefined || place === "" ? "" : `${place}: `}${item.detail}\n`);
  }
  process.exitCode = 1;
}

/** `--version` answers everywhere, as `--help` does. */
function giveVersion(command: Command): void {
  for (const child of command.commands) {
    child.version(version, "-V, --version");
    giveVersion(child);
  }
}
