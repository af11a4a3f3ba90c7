#!/usr/bin/env node
import { nodeVersionError } from "./nodeVersion.ts";

// Other modules are imported only after the check, because an older Node.js may not be able to load them.
const versionError = nodeVersionError(process.versions.node);
if (versionError !== undefined) {
  process.stderr.write(`isotherm: ${versionError}\n`);
  process.exitCode = 1;
} else {
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
