import { execFileSync } from "node:child_process";
import { mkdir } from "node:fs/promises";
import type { OpenCompetitor } from "../circleContender.ts";
import { CompetitorProcess, circleContenderOf } from "./competitorProcess.ts";

const SOURCES = "bench/native";
const BUILD_FOLDER = "build/bench-native";

/** Scans all 21 layers cell by cell in each row span, with the widest SIMD vectors that the CPU supports. */
export const nativeRowScan: OpenCompetitor = async (workload) => {
  const program = await compile("rowScan", { flags: ["-march=native"], requiredMacro: "__AVX2__" });
  if ("reason" in program) return program.reason;
  const child = await CompetitorProcess.start(program.path, [], workload);
  return circleContenderOf(child, { name: `native ${child.description} row scan` });
};

/** Isotherm's algorithm in C++, with vectors as wide as those of WebAssembly. */
export const nativeBlocksAndPrefix: OpenCompetitor = async (workload) => {
  const flags = ["-msse4.2", "-mno-avx"];
  const program = await compile("blocksAndPrefix", { flags, requiredMacro: "__SSE4_2__" });
  if ("reason" in program) return program.reason;
  return circleContenderOf(await CompetitorProcess.start(program.path, [], workload), {
    name: "Isotherm's algorithm in C++, 128-bit vectors",
  });
};

/**
 * Compiles a program of bench/native.
 *
 * @param requiredMacro macro that g++ defines if the CPU has the instructions that the program needs
 * @returns its path, or the reason why this machine cannot run it
 */
async function compile(
  name: string,
  { flags, requiredMacro }: { readonly flags: readonly string[]; readonly requiredMacro: string },
): Promise<{ readonly path: string } | { readonly reason: string }> {
  await mkdir(BUILD_FOLDER, { recursive: true });
  const path = `${BUILD_FOLDER}/${name}`;
  let macros: string;
  try {
    macros = execFileSync("g++", ["-march=native", "-dM", "-E", "-x", "c++", "/dev/null"], { encoding: "utf8" });
  } catch {
    return { reason: "g++ is not installed" };
  }
  if (!macros.includes(`#define ${requiredMacro} `)) {
    return { reason: `${name}.cpp requires a CPU for which g++ defines ${requiredMacro}` };
  }
  // GCC 12 reports false uninitialized-variable warnings in its own AVX-512 header.
  const warnings = ["-Wall", "-Wextra", "-Wno-maybe-uninitialized"];
  execFileSync("g++", ["-std=c++20", "-O3", ...warnings, ...flags, "-o", path, `${SOURCES}/${name}.cpp`], {
    stdio: "inherit",
  });
  return { path };
}
