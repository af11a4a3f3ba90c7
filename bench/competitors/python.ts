import { execFileSync } from "node:child_process";
import type { OpenCompetitor } from "../circleContender.ts";
import type { Workload } from "../workload.ts";
import { CompetitorProcess, circleContenderOf } from "./competitorProcess.ts";

/** Debian packages are installed for the system interpreter, which may not be first in PATH. */
const INTERPRETERS = ["python3", "/usr/bin/python3"];

/** Returns an interpreter that has numpy and a module; undefined if there is none. */
export function pythonWith(module: string): string | undefined {
  return INTERPRETERS.find((command) => {
    try {
      execFileSync(command, ["-c", `import numpy, ${module}`], { stdio: "ignore" });
      return true;
    } catch {
      return false;
    }
  });
}

/** Starts a competitor of bench/python/competitors.py. @returns a message if a module is missing */
export async function startPython(
  competitor: string,
  module: string,
  workload: Workload,
): Promise<CompetitorProcess | string> {
  const python = pythonWith(module);
  if (python === undefined) return `python3 with ${module} is not installed`;
  return CompetitorProcess.start(python, ["bench/python/competitors.py", competitor], workload);
}

function circleCompetitor(competitor: string, module: string, name: string): OpenCompetitor {
  return async (workload) => {
    const child = await startPython(competitor, module, workload);
    return typeof child === "string" ? child : circleContenderOf(child, { name });
  };
}

export const numpyMask = circleCompetitor("numpyMask", "numpy", "numpy haversine mask, in memory");
export const rasterioMask = circleCompetitor("rasterioMask", "rasterio", "rasterio.mask on GeoTIFF, warm");
