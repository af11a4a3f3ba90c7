#!/usr/bin/env node
import { Command } from "commander";
import { accountsCommand } from "./accounts.ts";
import { alignCommand } from "./align.ts";
import { atlasCommand } from "./atlas.ts";
import { companyCommand } from "./company.ts";
import { customersCommand } from "./customers.ts";
import { ingestCommand } from "./ingest.ts";
import { keysCommand } from "./keys.ts";
import { queryCommand } from "./query.ts";
import { refusalLines } from "./refusal.ts";
import { serveCommand } from "./serve.ts";
import { usageCommand } from "./usage.ts";
import { version } from "../version.ts";

const program = new Command("isotherm")
  .description("What the climate will do at any place on Earth: cyclones, wildfire, coastal and river floods.")
  .version(version, "-V, --version")
  .showHelpAfterError("(add --help for what there is)")
  .addCommand(serveCommand())
  .addCommand(ingestCommand())
  .addCommand(atlasCommand())
  .addCommand(queryCommand())
  .addCommand(alignCommand())
  .addCommand(companyCommand())
  .addCommand(accountsCommand())
  .addCommand(keysCommand())
  .addCommand(customersCommand())
  .addCommand(usageCommand());

giveVersion(program);

try {
  await program.parseAsync();
} catch (error) {
  const lines = refusalLines(error);
  if (lines === undefined) throw error;
  process.stderr.write(`isotherm: ${lines.join("\n  ")}\n`);
  process.exitCode = 1;
}

/** `--version` answers everywhere, as `--help` does. */
function giveVersion(command: Command): void {
  for (const child of command.commands) {
    child.version(version, "-V, --version");
    giveVersion(child);
  }
}
