// Prints the import graph of src/: modules, edges, cycles and module sizes.
//   node scripts/importGraph.mjs [--json]
// Exits with 1 if there is a cycle of modules or of folders. Type-only imports are included.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** @returns the TypeScript files below a folder of the repository, as paths from its root with `/` */
export function filesBelow(folder) {
  return readdirSync(join(ROOT, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .toSorted((a, b) => a.localeCompare(b));
}

/**
 * Returns the modules that a file imports or re-exports, statically or by `import()`: relative specifiers as paths from
 * the root, others as written.
 * @param {{ typeOnly?: boolean }} [options] `typeOnly: false` leaves out `import type` and `export type` statements
 */
export function importsOf(file, { typeOnly = true } = {}) {
  const whole = readFileSync(join(ROOT, file), "utf8");
  const text = typeOnly ? whole : whole.replaceAll(/(?:^|\n)\s*(?:import|export) type\b[^;]*;/g, "\n");
  const specifiers = [
    ...text.matchAll(/(?:^|\n)\s*(?:import|export)\b[^;"'=]*?\bfrom\s*["']([^"']+)["']/g),
    ...text.matchAll(/(?:^|\n)\s*import\s*["']([^"']+)["']/g),
    ...text.matchAll(/\bimport\(\s*["']([^"']+)["']/g),
  ];
  return specifiers.map(([, specifier]) =>
    specifier.startsWith(".") ? join(dirname(file), specifier).split(sep).join("/") : specifier,
  );
}

/** Returns the groups of modules that import each other, directly or through others (Tarjan 1972). */
export function cyclesOf(graph) {
  const index = new Map();
  const low = new Map();
  const stack = [];
  const cycles = [];
  const visit = (module) => {
    index.set(module, index.size);
    low.set(module, index.get(module));
    stack.push(module);
    for (const next of graph.get(module) ?? []) {
      if (!index.has(next)) visit(next);
      if (stack.includes(next)) low.set(module, Math.min(low.get(module), low.get(next)));
    }
    if (low.get(module) !== index.get(module)) return;
    const component = stack.splice(stack.indexOf(module));
    if (component.length > 1 || (graph.get(module) ?? []).includes(module))
      cycles.push(component.toSorted((a, b) => a.localeCompare(b)));
  };
  for (const module of graph.keys()) if (!index.has(module)) visit(module);
  return cycles;
}

/** Returns each module of a folder with the modules of the same folder that it imports. */
export function graphOf(folder) {
  const files = filesBelow(folder);
  const known = new Set(files);
  return new Map(files.map((file) => [file, importsOf(file).filter((path) => known.has(path))]));
}

/**
 * Returns the cycles between the members of each folder. A subfolder with all files below it counts as one member.
 * Modules may therefore import files next to their folder, such as src/errors.ts, and files may import from subfolders.
 */
export function folderCyclesOf(graph) {
  const membersByFolder = new Map();
  for (const [file, targets] of graph) {
    for (const target of targets) {
      const [from, to] = [file.split("/"), target.split("/")];
      const depth = from.findIndex((name, index) => name !== to[index]);
      if (depth < 0) continue;
      const folder = from.slice(0, depth).join("/");
      const members = membersByFolder.get(folder) ?? new Map();
      membersByFolder.set(folder, members);
      const [member, imported] = [from, to].map((names) => names.slice(0, depth + 1).join("/"));
      members.set(member, [...(members.get(member) ?? []), imported]);
    }
  }
  return [...membersByFolder.values()].flatMap(cyclesOf);
}

function report() {
  const graph = graphOf("src");
  const edgeCount = [...graph.values()].reduce((sum, targets) => sum + new Set(targets).size, 0);
  const sizes = [...graph.keys()]
    .filter((file) => !/\/generated\/|\.generated\.ts$|\/wireTypes\.ts$/.test(file))
    .map((file) => ({ file, lineCount: readFileSync(join(ROOT, file), "utf8").split("\n").length - 1 }))
    .toSorted((a, b) => b.lineCount - a.lineCount);
  return {
    moduleCount: graph.size,
    edgeCount,
    cycles: cyclesOf(graph),
    folderCycles: folderCyclesOf(graph),
    lineCountMedian: sizes[sizes.length >> 1].lineCount,
    longest: sizes.slice(0, 10),
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const graph = report();
  if (process.argv.includes("--json")) console.log(JSON.stringify(graph, undefined, 2));
  else {
    console.log(
      `${graph.moduleCount} modules, ${graph.edgeCount} imports, ${graph.cycles.length + graph.folderCycles.length} cycles`,
    );
    for (const cycle of graph.cycles) console.log(`  cycle: ${cycle.join(" - ")}`);
    for (const cycle of graph.folderCycles) console.log(`  cycle of folders: ${cycle.join(" - ")}`);
    console.log(`lines per module: median ${graph.lineCountMedian}; longest:`);
    for (const { file, lineCount } of graph.longest) console.log(`  ${String(lineCount).padStart(5)} ${file}`);
  }
  process.exitCode = graph.cycles.length + graph.folderCycles.length === 0 ? 0 : 1;
}
