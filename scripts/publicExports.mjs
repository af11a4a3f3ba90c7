// Lists what each entry point of the package exports, the members of the types of requests and responses, and the types
// that its declarations mention but do not export.
//   node scripts/publicExports.mjs           prints the list
//   node scripts/publicExports.mjs --write   writes it to test/publicExports.txt, which a test compares
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { SyntaxKind } from "typescript/unstable/ast";
import { API, SymbolFlags } from "typescript/unstable/sync";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const DECLARATIONS = "build/declarations";
export const SNAPSHOT = "test/publicExports.txt";

/** Syntax nodes that refer to a type, or to a value whose type is part of a declaration. */
const REFERENCES = new Set([
  SyntaxKind.TypeReference,
  SyntaxKind.ExpressionWithTypeArguments,
  SyntaxKind.TypeQuery,
  SyntaxKind.ImportType,
]);

/**
 * Emits the declarations of the package and examines each entry point of package.json.
 *
 * @returns by specifier, such as `isotherm/client`: the exports with their kinds, and the names of the types that are
 *   reachable from them but not exported, with the type that mentions each
 */
export function publicExports() {
  const run = (/** @type {string[]} */ ...args) =>
    execFileSync(process.execPath, args, { cwd: ROOT, stdio: "inherit" });
  rmSync(`${ROOT}/${DECLARATIONS}`, { recursive: true, force: true });
  const tsc = "node_modules/typescript/bin/tsc";
  run(tsc, "-p", "tsconfig.build.json", "--emitDeclarationOnly", "--outDir", DECLARATIONS);
  const config = `${ROOT}/${DECLARATIONS}/tsconfig.json`;
  const { compilerOptions } = JSON.parse(readFileSync(`${ROOT}/tsconfig.json`, "utf8"));
  writeFileSync(config, JSON.stringify({ compilerOptions, include: ["**/*.d.ts"] }));
  const api = new API({ cwd: ROOT });
  try {
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
    if (project === undefined) throw new Error(`${config} was not opened`);
    const { name, exports } = JSON.parse(readFileSync(`${ROOT}/package.json`, "utf8"));
    return new Map(
      Object.entries(exports)
        .filter(([, entry]) => entry.types !== undefined)
        .map(([path, { types }]) => [
          path.replace(/^\./, name),
          examine(project, `${ROOT}/${types.replace("./dist", DECLARATIONS)}`),
        ]),
    );
  } finally {
    api.close();
  }
}

function examine(project, file) {
  const { checker, program } = project;
  const source = program.getSourceFile(file);
  const module = source === undefined ? undefined : checker.getSymbolAtLocation(source);
  if (module === undefined) throw new Error(`${file} is not a module`);
  const resolve = (symbol) => ((symbol.flags & SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol));
  const exported = checker.getExportsOfModule(module).map((symbol) => ({ name: symbol.name, symbol: resolve(symbol) }));
  const seen = new Map(exported.map(({ name, symbol }) => [symbol.id, name]));
  const hidden = [];
  const pending = exported.map(({ symbol }) => symbol);
  for (let symbol = pending.pop(); symbol !== undefined; symbol = pending.pop()) {
    for (const declaration of symbol.declarations) {
      const node = declaration.resolve(project);
      if (node === undefined) continue;
      for (const reference of referencesIn(node)) {
        const found = checker.getSymbolAtLocation(nameOf(reference));
        if (found === undefined) continue;
        const target = resolve(found);
        if (seen.has(target.id) || !isDeclaredHere(target)) continue;
        seen.set(target.id, target.name);
        pending.push(target);
        // A constant that is mentioned only by `typeof` need not be exported, but the types that it mentions must be.
        if ((target.flags & SymbolFlags.Type) !== 0)
          hidden.push({ name: target.name, mentionedBy: seen.get(symbol.id) ?? "" });
      }
    }
  }
  const names = exported.map(({ name, symbol }) => `${kindOf(symbol)} ${name}`);
  return { exports: names.toSorted((a, b) => a.localeCompare(b)), hidden };
}

/** Returns whether this package declares a symbol, other than as a type parameter or a member. */
function isDeclaredHere({ flags, declarations }) {
  const isNamed = (flags & (SymbolFlags.Type | SymbolFlags.Variable | SymbolFlags.Function)) !== 0;
  return (
    isNamed &&
    (flags & (SymbolFlags.TypeParameter | SymbolFlags.TypeLiteral)) === 0 &&
    declarations.some(({ path }) => path.includes(`/${DECLARATIONS}/`))
  );
}

function referencesIn(node) {
  const found = [];
  const visit = (each) => {
    if (REFERENCES.has(each.kind)) found.push(each);
    each.forEachChild(visit);
  };
  visit(node);
  return found;
}

function nameOf(node) {
  let name = node.typeName ?? node.exprName ?? node.expression ?? node.qualifier;
  while (name?.right !== undefined) name = name.right;
  return name;
}

function kindOf({ flags }) {
  if ((flags & SymbolFlags.Class) !== 0) return "class";
  if ((flags & SymbolFlags.Function) !== 0) return "function";
  return (flags & SymbolFlags.Variable) === 0 ? "type" : "const";
}

/**
 * Returns the list as text: each entry point, followed by its exports, and the published types of requests and responses
 * without their comments.
 */
export function exportsText(entries) {
  const lists = [...entries].map(
    ([specifier, { exports }]) => `${specifier}\n${exports.map((name) => `  ${name}\n`).join("")}`,
  );
  const wireTypes = readFileSync(`${ROOT}/${DECLARATIONS}/contract/wireTypes.d.ts`, "utf8")
    .replaceAll(/^\/\/.*\n| *\/\*\*[^]*?\*\/\n/gm, "")
    .trimStart();
  return [...lists, wireTypes].join("\n");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const entries = publicExports();
  for (const [specifier, { hidden }] of entries)
    for (const { name, mentionedBy } of hidden)
      console.error(`${specifier} does not export ${name}, which ${mentionedBy} mentions`);
  if (process.argv.includes("--write")) writeFileSync(`${ROOT}/${SNAPSHOT}`, exportsText(entries));
  else console.log(exportsText(entries));
}
