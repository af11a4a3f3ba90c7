import { Fault } from "../errors.ts";
import type { Blobs } from "./blobs.ts";
import { diskBlobs } from "./diskBlobs.ts";
import { httpBlobs } from "./httpBlobs.ts";

const SCHEME = /^([a-z][a-z0-9+.-]+):\/\//i;

/**
 * Returns the file storage of the atlas at an address. Does not read any file.
 *
 * @param address a folder (not in a browser), or an http or https address
 * @throws Fault `atlas_not_found` for any other scheme, `configuration_invalid` for a malformed address
 */
export function blobsAt(address: string): Blobs {
  const scheme = SCHEME.exec(address)?.[1]?.toLowerCase();
  if (scheme === undefined) return diskBlobs(address);
  if (scheme === "http" || scheme === "https") return httpBlobs(address);
  const publicAddress = withoutSecrets(address);
  throw new Fault(
    "atlas_not_found",
    `The address of an atlas must be a folder, an http or https address, or "demo" (got ${publicAddress}).`,
    { details: { address: publicAddress } },
  );
}

/** Returns whether the atlas at a supported address is read over HTTP. */
export function isWebAddress(address: string): boolean {
  return SCHEME.test(address);
}

/** Returns the address without user name, password, query and fragment, for logs and messages. Folders are unchanged. */
export function withoutSecrets(address: string): string {
  const scheme = SCHEME.exec(address)?.[0];
  if (scheme === undefined) return address;
  const [authority = "", ...path] = (address.slice(scheme.length).split(/[?#]/, 1)[0] ?? "").split("/");
  return [scheme + authority.slice(authority.lastIndexOf("@") + 1), ...path].join("/");
}
