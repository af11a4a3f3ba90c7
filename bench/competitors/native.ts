import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import type { OpenCompetitor } from "../circleContender.ts";
import { CompetitorProcess, circleContenderOf } from "./competitorProcess.ts";

const SOURCES = "bench/native";
const BUILD_FOLDER = "build/bench-native";

/** Scans all 21 layers cell by cell in each row span, with the widest vectors of the machine. */
export const nativeRowScan: OpenCompetitor = async (workload) => {
  const hasAvx512 = /\bavx512f\b/.test(cpuFlags());
  const program = await compile("rowScan", ["-march=native"]);
  if (program === undefined) return "g++ is not installed";
  const vectors = hasAvx512 ? "AVX-512" : "AVX2";
  return circleContenderOf(await CompetitorProcess.start(program, [], workload), {
    name: `native ${vectors} row scan`,
  });
};

/** Our algorithm in C++, with vectors as wide as those of WebAssembly. */
export const nativeBlocksAndPrefix: OpenCompetitor = async (workload) => {
  const program = await compile("blocksAndPrefix", ["-msse4.2", "-mno-avx"]);
  if (program === undefined) return "g++ is not installed";
  return circleContenderOf(await CompetitorProcess.start(program, [], workload), {
    name: "the same algorithm, native, 128-bit vectors",
  });
};

function cpuFlags(): string {
  try {
    return readFileSync("/proc/cpuinfo", "utf8");
  } catch {
    return ""; // not Linux: g++ still detects the CPU, and the row is labeled AVX2
  }
}

async function compile(name: string, flags: readonly string[]): Promise<string | undefined> {
  await mkdir(BUILD_FOLDER, { recursive: true });
  const program = `${BUILD_FOLDER}/${name}`;
  try {
    execFileSync("g++", ["--version"], { stdio: "ignore" });
  } catch {
    return undefined;
  }
  // GCC 12 reports false uninitialized-variable warnings in its own AVX-512 header.
  const warnings = ["-Wall", "-Wextra", "-Wno-maybe-uninitialized"];
  execFileSync("g++", ["-std=c++20", "-O3", ...warnings, ...flags, "-o", program, `${SOURCES}/${name}.cpp`], {
    stdio: "inherit",
  });
  return program;
}
