import { Fault } from "../errors.ts";

/** An error in a form that can be sent between threads; structured cloning loses classes and members. */
export interface PackedError {
  readonly name: string;
  readonly message: string;
  /** Stack trace of the original error. */
  readonly stack?: string;
  /** Code of a system or SQLite error. */
  readonly code?: string;
  readonly cause?: PackedError;
  /** Members of an error of a registered class, which is named by `name`. */
  readonly members?: Readonly<Record<string, unknown>>;
}

/** Conversion of the errors of a class for transfer between threads. */
export interface TransferableErrorClass<Type extends Error> {
  /** Value of `name` of its errors; unique among the registered classes. */
  readonly name: string;
  isInstance(error: unknown): error is Type;
  /** Returns the members besides message, stack and cause; they must be cloneable. */
  members(error: Type): Readonly<Record<string, unknown>>;
  restore(message: string, members: Readonly<Record<string, unknown>>, options: { readonly cause?: unknown }): Type;
}

/** Causes beyond this depth are not sent. */
const CAUSE_DEPTH_MAX = 4;

const classes = new Map<string, TransferableErrorClass<Error>>();

/** Registers an error class, so that its errors keep their class when sent between threads. Call it on both threads. */
export function registerErrorClass<Type extends Error>(definition: TransferableErrorClass<Type>): void {
  classes.set(definition.name, definition);
}

registerErrorClass<Fault>({
  name: "Fault",
  isInstance: (error): error is Fault => error instanceof Fault,
  members: ({ code, details, items, headers }) => ({ code, details, items, headers }),
  restore: (message, { code, details, items, headers }, { cause }) =>
    new Fault(code as Fault["code"], message, {
      details: details as Fault["details"],
      items: items as Fault["items"],
      headers: headers as Fault["headers"],
      cause,
    }),
});

/** Converts an error for another thread; `unpackError` restores it there with its stack, causes and class. */
export function packError(error: unknown): PackedError {
  return packWithCauses(error, 0);
}

function packWithCauses(error: unknown, depth: number): PackedError {
  if (!(error instanceof Error)) return { name: typeof error, message: String(error) };
  const { name, message, stack, cause } = error;
  const definition = classes.get(name);
  const members = definition?.isInstance(error) === true ? definition.members(error) : undefined;
  const code: unknown = members === undefined && "code" in error ? error.code : undefined;
  return {
    name,
    message,
    ...(stack === undefined ? {} : { stack }),
    ...(typeof code === "string" ? { code } : {}),
    ...(cause === undefined || depth === CAUSE_DEPTH_MAX ? {} : { cause: packWithCauses(cause, depth + 1) }),
    ...(members === undefined ? {} : { members }),
  };
}

/** Restores an error packed by `packError`. */
export function unpackError({ name, message, stack, code, cause, members }: PackedError): Error {
  const options = cause === undefined ? {} : { cause: unpackError(cause) };
  const definition = members === undefined ? undefined : classes.get(name);
  const error =
    definition === undefined
      ? Object.assign(new Error(message, options), { name }, code === undefined ? {} : { code })
      : definition.restore(message, members ?? {}, options);
  if (stack !== undefined) error.stack = stack;
  return error;
}
