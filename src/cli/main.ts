#!/usr/bin/env node
import { runProgram } from "./program.ts";
import { endOnOutputError } from "./standardOutput.ts";

process.stdout.on("error", endOnOutputError);
// An error on standard error cannot be reported anywhere.
process.stderr.on("error", () => undefined);
const exitCode = await runProgram(process.argv.slice(2));
if (exitCode !== undefined) process.exitCode = exitCode;
