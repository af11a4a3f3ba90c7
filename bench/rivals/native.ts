import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import type { OpenRival } from "../rival.ts";
import { ChildRival, circlesOf } from "./child.ts";

const SOURCES = "bench/native";
const BUILT = "build/bench-native";

/** All 21 layers scanned, cell after cell of each row span, with the widest vectors the machine has. */
export const nativeRowScan: OpenRival = async (workload) => {
  const hasAvx512 = /\bavx512f\b/.test(cpuFlags());
  const program = await compile("rowScan", ["-march=native"]);
  if (program === undefined) return "g++ is not installed";
  const vectors = hasAvx512 ? "AVX-512" : "AVX2";
  return circlesOf(await ChildRival.start(program, [], workload), { name: `native ${vectors} row scan` });
};

/** Our algorithm in C++, with vectors as wide as those of WebAssembly. */
export const nativeBlocksAndPrefix: OpenRival = async (workload) => {
  const program = await compile("blocksAndPrefix", ["-msse4.2", "-mno-avx"]);
  if (program === undefined) return "g++ is not installed";
  return circlesOf(await ChildRival.start(program, [], workload), {
    name: "the same algorithm, native, 128-bit vectors",
  });
};

function cpuFlags(): string {
  try {
    return readFileSync("/proc/cpuinfo", "utf8");
  } catch {
    return ""; // no Linux: the compiler still knows, and the name of the row is the cautious one
  }
}

async function compile(name: string, flags: readonly string[]): Promise<string | undefined> {
  await mkdir(BUILT, { recursive: true });
  const program = `${BUILT}/${name}`;
  try {
    execFileSync("g++", ["--version"], { stdio: "ignore" });
  } catch {
    return undefined;
  }
  // GCC 12 takes its own AVX-512 header for uninitialised, and says so at length.
  const warnings = ["-Wall", "-Wextra", "-Wno-maybe-uninitialized"];
  execFileSync("g++", ["-std=c++20", "-O3", ...warnings, ...flags, "-o", program, `${SOURCES}/${name}.cpp`], {
    stdio: "inherit",
  });
  return program;
}
