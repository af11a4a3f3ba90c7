#!/usr/bin/env node
import { runProgram } from "./program.ts";
import { endOnOutputError } from "./standardOutput.ts";

process.stdout.on("error", endOnOutputError);
// Errors of standard error cannot be reported.
process.stderr.on("error", () => undefined);
const exitCode = await runProgram(process.argv.slice(2));
if (exitCode !== undefined) process.exitCode = exitCode;
