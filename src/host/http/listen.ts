import type { Server } from "node:http";
import { isIPv6 } from "node:net";
import { Fault } from "../../errors.ts";

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
  readonly url: string;
}

/**
 * Connections that wait to be accepted. The system may allow fewer (`net.core.somaxconn`). If they are too many, it drops
 * further ones, whose clients try again after a second.
 */
const BACKLOG = 4096;

/**
 * Starts listening.
 * @throws Fault `configuration_invalid` if the service cannot listen on the address
 */
export async function listen(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen({ host, port, exclusive: true, backlog: BACKLOG }, () => {
        server.off("error", reject);
        resolve();
      });
    });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "";
    const reason =
      {
        EADDRINUSE: "the port is in use; choose another port, or 0 for any free one",
        EACCES: "permission denied; ports below 1024 need privileges",
        EADDRNOTAVAIL: "this machine does not have this address",
      }[code] ?? `the system reports ${code}`;
    const message = `Cannot listen on port ${port} of ${host}: ${reason}.`;
    throw new Fault("configuration_invalid", message, { details: { host, port }, cause: error });
  }
}

/** Returns the address that a server listens on. */
export function addressOf(server: Server): ServerAddress {
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("The server does not listen on a port.");
  const { address: host, port } = bound;
  return { host, port, url: `http://${isIPv6(host) ? `[${host}]` : host}:${port}` };
}
