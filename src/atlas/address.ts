import { Fault } from "../errors.ts";
import type { Blobs } from "./blobs.ts";
import { diskBlobs } from "./diskBlobs.ts";
import { httpBlobs } from "./httpBlobs.ts";

const SCHEME = /^([a-z][a-z0-9+.-]+):\/\//i;

/**
 * The files of the atlas at an address; nothing is read yet.
 *
 * @param address a folder (not in a browser), or an http or https address
 * @throws Fault `atlas_not_found` for any other scheme, `configuration_invalid` when the address cannot be one
 */
export function blobsAt(address: string): Blobs {
  const scheme = SCHEME.exec(address)?.[1]?.toLowerCase();
  if (scheme === undefined) return diskBlobs(address);
  if (scheme === "http" || scheme === "https") return httpBlobs(address);
  const said = withoutSecrets(address);
  throw new Fault(
    "atlas_not_found",
    `An atlas is opened from a folder, over http or https, or as "demo", not ${said}.`,
    {
      details: { address: said },
    },
  );
}

/** Whether an address that can be opened leads to a web server. */
export function isWebAddress(address: string): boolean {
  return SCHEME.test(address);
}

/** An address as it may be logged and shown: without user name, password, query and fragment. Folders stay as they are. */
export function withoutSecrets(address: string): string {
  const scheme = SCHEME.exec(address)?.[0];
  if (scheme === undefined) return address;
  const [authority = "", ...path] = (address.slice(scheme.length).split(/[?#]/, 1)[0] ?? "").split("/");
  return [scheme + authority.slice(authority.lastIndexOf("@") + 1), ...path].join("/");
}
