import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { Fault } from "../errors.ts";

/** A package that only some features need: an optional peer dependency in package.json. */
export type OptionalPackage =
  | "better-sqlite3"
  | "h5wasm"
  | "hyparquet"
  | "hyparquet-compressors"
  | "hyparquet-writer"
  | "kysely"
  | "netcdfjs"
  | "pg"
  | "pino"
  | "proj4"
  | "prom-client"
  | "swagger-ui-dist"
  | "zarrita";

/** Location of this installation of Isotherm, and the environment that it runs in. */
export interface Installation {
  /** Folder of Isotherm's package.json. */
  readonly root: string;
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  isInstalled(name: OptionalPackage): boolean;
}

const THIS_INSTALLATION: Installation = {
  root: fileURLToPath(new URL("../..", import.meta.url)),
  cwd: process.cwd(),
  platform: process.platform,
  isInstalled,
};

/**
 * Checks that optional packages are installed.
 *
 * @param feature the feature that needs them, as the subject of a sentence: "isotherm serve"
 * @throws Fault `configuration_invalid` with all missing packages and one command that installs them
 */
export function requirePackages(
  feature: string,
  names: readonly OptionalPackage[],
  installation: Installation = THIS_INSTALLATION,
): void {
  const missing = names.filter((name) => !installation.isInstalled(name));
  if (missing.length === 0) return;
  const description = missing.length === 1 ? "a package that is" : `${missing.length} packages that are`;
  const message = `${feature} needs ${description} not installed: ${missing.join(", ")}. ${installationAdvice(missing, installation)}`;
  throw new Fault("configuration_invalid", message, { details: { packages: missing } });
}

/** Returns the optional packages that a ledger at this address needs. */
export function ledgerPackages({ database }: { readonly database?: string | undefined }): readonly OptionalPackage[] {
  return [database === undefined ? "better-sqlite3" : "pg", "kysely"];
}

/** Returns instructions for installing packages where this installation of Isotherm resolves them. */
function installationAdvice(missing: readonly OptionalPackage[], installation: Installation): string {
  const ranges = peerRanges(installation.root);
  // POSIX shells, PowerShell and cmd.exe all accept double quotes; without quotes cmd.exe drops the caret.
  const packageArguments = missing.map((name) => `"${name}@${ranges[name] ?? "*"}"`).join(" ");
  const target = npmTarget(installation);
  if (target === "unknown") return `Add them with your package manager: ${packageArguments}`;
  const command =
    target === "clone"
      ? `npm ci${npmPrefixOption(installation.root, installation)}`
      : `npm install${target.flags} ${packageArguments}`;
  return `Run:\n\n  ${command}`;
}

/**
 * Determines where npm has to install a package for this installation of Isotherm to resolve it. The folder is derived
 * from Isotherm's own path, because the configured npm prefix may differ from the one used for the installation.
 */
function npmTarget(installation: Installation): { readonly flags: string } | "clone" | "unknown" {
  const root = resolve(installation.root);
  const modules = dirname(root);
  if (basename(modules) !== "node_modules") return "clone";
  const parent = dirname(modules);
  // pnpm stores each package in a separate folder, into which npm cannot install.
  if (parent.split(sep).includes(".pnpm")) return "unknown";
  if (existsSync(join(parent, "package.json"))) return { flags: npmPrefixOption(parent, installation) };
  if (installation.platform === "win32") return { flags: ` --global --prefix "${parent}"` };
  if (basename(parent) === "lib") return { flags: ` --global --prefix "${dirname(parent)}"` };
  return { flags: npmPrefixOption(parent, installation) };
}

function npmPrefixOption(folder: string, { cwd }: Installation): string {
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
    // Any other error means that the package is installed.
    return (error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND";
  }
}
