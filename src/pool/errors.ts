import { Fault, isFault } from "../errors.ts";
import type { PackedError, PackedFault, Report } from "./messages.ts";

/** Causes of causes that are told of. */
const CAUSE_DEPTH_MAX = 4;

export function packFault({ code, message, details, items, cause }: Fault): PackedFault {
  return { code, message, details, items, ...(cause === undefined ? {} : { cause: packError(cause) }) };
}

export function unpackFault({ code, message, details, items, cause }: PackedFault): Fault {
  return new Fault(code, message, { details, items, ...(cause === undefined ? {} : { cause: unpackError(cause) }) });
}

/** What is told of work that could not be done. */
export function reportOf(id: number, error: unknown): Report {
  if (isFault(error)) return { kind: "refused", id, fault: packFault(error) };
  const message = error instanceof Error ? error.message : String(error);
  return { kind: "failed", id, message, cause: packError(error) };
}

/** The error that a report stands for, if it stands for one. */
export function errorOf(report: Report): Error | undefined {
  if (report.kind === "refused") return unpackFault(report.fault);
  if (report.kind !== "failed") return undefined;
  const { message, cause } = report;
  return new Error(`A worker failed: ${message}`, cause === undefined ? {} : { cause: unpackError(cause) });
}

function packError(error: unknown, depth = 0): PackedError {
  if (!(error instanceof Error)) return { name: typeof error, message: String(error) };
  const code: unknown = "code" in error ? error.code : undefined;
  return {
    name: error.name,
    message: error.message,
    ...(error.stack === undefined ? {} : { stack: error.stack }),
    ...(typeof code === "string" ? { code } : {}),
    ...(error.cause === undefined || depth === CAUSE_DEPTH_MAX ? {} : { cause: packError(error.cause, depth + 1) }),
  };
}

/** An error with the stack that it had where it was thrown. */
function unpackError({ name, message, stack, code, cause }: PackedError): Error {
  const error = new Error(message, cause === undefined ? {} : { cause: unpackError(cause) });
  return Object.assign(error, { name }, stack === undefined ? {} : { stack }, code === undefined ? {} : { code });
}
