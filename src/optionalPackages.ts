import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { Fault } from "./errors.ts";

/** A package that only a part of Isotherm needs: an optional peer dependency in package.json. */
export type OptionalPackage =
  | "better-sqlite3"
  | "find-my-way"
  | "geotiff"
  | "kysely"
  | "pg"
  | "pino"
  | "prom-client"
  | "rate-limiter-flexible"
  | "swagger-ui-dist";

/** Where this copy of Isotherm is installed and from where it was started. */
export interface Installation {
  /** The folder with the package.json of Isotherm. */
  readonly root: string;
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  isInstalled(name: OptionalPackage): boolean;
}

const HERE: Installation = {
  root: fileURLToPath(new URL("..", import.meta.url)),
  cwd: process.cwd(),
  platform: process.platform,
  isInstalled,
};

/**
 * Checks that optional packages are installed.
 * @param user what needs them, as the subject of a sentence: "isotherm serve"
 * @throws Fault `configuration_invalid` that names every missing package and the one command that installs them all
 */
export function requirePackages(user: string, names: readonly OptionalPackage[], at: Installation = HERE): void {
  const missing = names.filter((name) => !at.isInstalled(name));
  if (missing.length === 0) return;
  const what = missing.length === 1 ? "a package that is" : `${missing.length} packages that are`;
  const message = `${user} needs ${what} not installed: ${missing.join(", ")}. ${adviceFor(missing, at)}`;
  throw new Fault("configuration_invalid", message, { details: { packages: missing } });
}

/** The optional packages that a ledger at this address needs. */
export function ledgerPackages({ database }: { readonly database?: string | undefined }): readonly OptionalPackage[] {
  return [database === undefined ? "better-sqlite3" : "pg", "kysely"];
}

/** How the packages are installed so that this copy of Isotherm finds them. */
function adviceFor(missing: readonly OptionalPackage[], at: Installation): string {
  const ranges = peerRanges(at.root);
  // Double quotes are understood by POSIX shells, PowerShell and cmd.exe; unquoted, cmd.exe drops the caret.
  const words = missing.map((name) => `"${name}@${ranges[name] ?? "*"}"`).join(" ");
  const target = npmTarget(at);
  if (target === "unknown") return `Add them with your package manager: ${words}`;
  const command = target === "clone" ? `npm ci${prefixOf(at.root, at)}` : `npm install${target.flags} ${words}`;
  return `Run:\n\n  ${command}`;
}

/**
 * Where npm has to install a package for this copy of Isotherm to find it. The folder is derived from the path of the
 * package itself, because the prefix that npm is configured with need not be the one it was installed under.
 */
function npmTarget(at: Installation): { readonly flags: string } | "clone" | "unknown" {
  const root = resolve(at.root);
  const modules = dirname(root);
  if (basename(modules) !== "node_modules") return "clone";
  const parent = dirname(modules);
  // pnpm keeps each package in a folder of its own, into which npm cannot install.
  if (parent.split(sep).includes(".pnpm")) return "unknown";
  if (existsSync(join(parent, "package.json"))) return { flags: prefixOf(parent, at) };
  if (at.platform === "win32") return { flags: ` --global --prefix "${parent}"` };
  if (basename(parent) === "lib") return { flags: ` --global --prefix "${dirname(parent)}"` };
  return { flags: prefixOf(parent, at) };
}

function prefixOf(folder: string, { cwd }: Installation): string {
  return resolve(cwd) === resolve(folder) ? "" : ` --prefix "${resolve(folder)}"`;
}

function peerRanges(root: string): Readonly<Record<string, string>> {
  const { peerDependencies = {} } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly peerDependencies?: Readonly<Record<string, string>>;
  };
  return peerDependencies;
}

function isInstalled(name: OptionalPackage): boolean {
  try {
    createRequire(import.meta.url).resolve(name);
    return true;
  } catch (error) {
    // Any other error is about a package that is there.
    return (error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND";
  }
}
