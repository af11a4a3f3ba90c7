// Runs `isotherm serve` with a fault, composed from the built modules with replaced parts. Tests start it as a child
// process to show that they detect the fault.
//   node test/faults/service.mjs <fault> [options of isotherm serve]
import { hostFaults } from "./hostFaults.mjs";
import { ledgerFaults } from "./ledgerFaults.mjs";
import { postgresFaults } from "./postgresFaults.mjs";
import { built } from "./replacing.mjs";
import { workerFaults } from "./workerFaults.mjs";

const { serveCommand } = await built("cli/serve.js");
const { endOnOutputError } = await built("cli/errorReport.js");

const FAULTS = { ...ledgerFaults, ...workerFaults, ...postgresFaults, ...hostFaults };
const [name = "", ...options] = process.argv.slice(2);
const parts = FAULTS[name];
if (parts === undefined) throw new Error(`unknown fault ${name}; one of ${Object.keys(FAULTS).join(", ")}`);
process.stdout.on("error", endOnOutputError);
await serveCommand(parts).parseAsync(options, { from: "user" });
