#!/usr/bin/env node
import module from "node:module";
import { join } from "node:path";
import { nodeVersionError } from "./nodeVersion.ts";

// Other modules are imported only after the check, because an older Node.js may not be able to load them.
const versionError = nodeVersionError(process.versions.node);
if (versionError !== undefined) {
  process.stderr.write(`isotherm: ${versionError}\n`);
  process.exitCode = 1;
} else {
  // Halves the time in which a command starts. Not in the system's temporary folder, where other users could place code.
  const { HOME, USERPROFILE = HOME, XDG_CACHE_HOME = USERPROFILE && join(USERPROFILE, ".cache") } = process.env;
  if (XDG_CACHE_HOME !== undefined) module.enableCompileCache(join(XDG_CACHE_HOME, "isotherm"));
  const [{ runProgram }, { endOnOutputError }] = await Promise.all([
    import("./program.ts"),
    import("./errorReport.ts"),
  ]);
  process.stdout.on("error", endOnOutputError);
  // Errors of standard error cannot be reported.
  process.stderr.on("error", () => undefined);
  const exitCode = await runProgram(process.argv.slice(2));
  if (exitCode !== undefined) process.exitCode = exitCode;
}
