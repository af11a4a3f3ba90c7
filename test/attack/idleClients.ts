import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const CLIENTS_FILE = fileURLToPath(new URL("idleClients.mjs", import.meta.url));

export interface IdleClientsSettings {
  readonly port: number;
  /** Loopback address that the connections come from. */
  readonly localAddress: string;
  /** Number of connections. */
  readonly count: number;
}

/** Clients whose connections are idle; see idleClients.mjs. */
export interface IdleClients {
  /** Number of connections by the status of their request, or by the code of an error. */
  readonly opened: Readonly<Record<string, number>>;
  /** Returns the positions of the connections that the service has closed, in ascending order. */
  closedPositions(): readonly number[];
  stop(): Promise<void>;
}

/** Opens idle connections in another process. */
export async function startIdleClients(settings: IdleClientsSettings): Promise<IdleClients> {
  const child = spawn(process.execPath, [CLIENTS_FILE, JSON.stringify(settings)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  const exited = once(child, "close").finally(() => process.off("exit", kill));
  const closed: number[] = [];
  const opening = new Promise<IdleClients["opened"]>((resolve) => {
    createInterface(child.stdout).on("line", (line) => {
      const message = JSON.parse(line) as { readonly opened?: IdleClients["opened"]; readonly closed?: number };
      if (message.closed !== undefined) closed.push(message.closed);
      if (message.opened !== undefined) resolve(message.opened);
    });
  });
  const opened = await Promise.race([opening, exited.then(() => Promise.reject(new Error("The idle clients ended.")))]);
  return {
    opened,
    closedPositions: () => closed.toSorted((a, b) => a - b),
    async stop() {
      child.stdin.end();
      await exited;
    },
  };
}
