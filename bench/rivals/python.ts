import { execFileSync } from "node:child_process";
import type { OpenRival } from "../rival.ts";
import type { Workload } from "../workload.ts";
import { ChildRival, circlesOf } from "./child.ts";

/** Debian's packages belong to its own interpreter, which need not be the first one found. */
const INTERPRETERS = ["python3", "/usr/bin/python3"];

/** Starts a rival of bench/python/rivals.py. @returns what is missing, where something is */
export async function startPython(which: string, module: string, workload: Workload): Promise<ChildRival | string> {
  const python = INTERPRETERS.find((command) => {
    try {
      execFileSync(command, ["-c", `import numpy, ${module}`], { stdio: "ignore" });
      return true;
    } catch {
      return false;
    }
  });
  if (python === undefined) return `python3 with ${module} is not installed`;
  return ChildRival.start(python, ["bench/python/rivals.py", which], workload);
}

function circles(which: string, module: string, name: string): OpenRival {
  return async (workload) => {
    const child = await startPython(which, module, workload);
    return typeof child === "string" ? child : circlesOf(child, { name });
  };
}

export const numpyMask = circles("numpyMask", "numpy", "numpy haversine mask, in memory");
export const rasterioMask = circles("rasterioMask", "rasterio", "rasterio.mask on GeoTIFF, warm");
