/** Settings of a PostgreSQL server and of its sessions that durability depends on. */
import type { ClientBase } from "pg";
import { Fault } from "../errors.ts";
import { serverClockFault } from "./clock.ts";

/** Settings without which a committed transaction can be lost, and what happens if they are off. */
const REQUIRED_SETTINGS = {
  fsync: "a power failure would lose usage",
  full_page_writes: "a power failure could damage the database",
  synchronous_commit: "a crash would lose usage",
} as const;

export type RequiredSetting = keyof typeof REQUIRED_SETTINGS;

/**
 * SQL expression: the name of a required setting that is off, or null. The server applies changes of its configuration
 * to a connection before the next statement, so statements that write usage evaluate it, too.
 */
export const SETTING_THAT_IS_OFF = `case ${Object.keys(REQUIRED_SETTINGS)
  .map((name) => `when current_setting('${name}') = 'off' then '${name}'`)
  .join(" ")} end`;

/**
 * Fixes settings for a session, so that neither the defaults of the user nor a reload of the server's configuration
 * changes them. `synchronous_commit` keeps a value other than `off`. At a stricter isolation level, concurrent batches would
 * fail with serialization errors.
 */
const CONFIGURE_SESSION = `
select set_config('default_transaction_isolation', 'read committed', false),
  set_config('synchronous_commit', coalesce(nullif(current_setting('synchronous_commit'), 'off'), 'on'), false)`;

/** Prepares a new connection. */
export async function configureSession(client: ClientBase): Promise<void> {
  await client.query(CONFIGURE_SESSION);
}

/**
 * Plans for the sizes of single batches are not worth their cost: with 1,000 entries,
 * PostgreSQL compiles the first five of a connection to machine code, which takes 50 times as long as recording them.
 */
const CONFIGURE_RECORDING = `
select set_config('plan_cache_mode', 'force_generic_plan', false), set_config('jit', 'off', false)`;

/** Prepares a connection that records, after `configureSession`. */
export async function configureRecording(client: ClientBase): Promise<void> {
  await client.query(CONFIGURE_RECORDING);
}

/**
 * Checks the settings of a connection that is to record usage.
 * @throws Fault `configuration_invalid`
 */
export async function checkServer(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ off: RequiredSetting | null; encoding: string; isStandby: boolean }>(
    `select ${SETTING_THAT_IS_OFF} as off, current_setting('server_encoding') as encoding,
       pg_is_in_recovery() as "isStandby"`,
  );
  const [settings] = rows;
  if (settings === undefined) throw new Error("PostgreSQL returned no settings.");
  const { off, encoding, isStandby } = settings;
  if (off !== null) throw notDurableFault(off);
  if (encoding !== "UTF8") {
    throw serverFault(`uses encoding ${encoding} for the database; create one with encoding UTF8`, { encoding });
  }
  if (isStandby) throw serverFault("is a read-only standby; use the primary's address", { standby: true });
}

/** Checks that the clocks of this machine and of the server agree. @throws Fault `clock_unreliable` */
export async function checkServerClock(client: ClientBase, now: () => number): Promise<void> {
  const { rows } = await client.query<{ atMs: number }>(
    `select cast(extract(epoch from clock_timestamp()) * 1000 as double precision) as "atMs"`,
  );
  const fault = serverClockFault(rows[0]?.atMs ?? NaN, now());
  if (fault !== undefined) throw fault;
}

/** Creates the error of a server with which a committed transaction can be lost. */
export function notDurableFault(setting: RequiredSetting): Fault {
  const problem = `runs with ${setting} = off: ${REQUIRED_SETTINGS[setting]}; set ${setting} = on and reload the configuration`;
  return serverFault(problem, { [setting]: "off" });
}

function serverFault(problem: string, details: Readonly<Record<string, unknown>>): Fault {
  return new Fault("configuration_invalid", `The PostgreSQL server ${problem}.`, { details });
}
