import { afterEach, beforeEach, vi } from "vitest";

/** What a test has printed. */
export interface CapturedOutput {
  stdout: string;
  stderr: string;
}

/**
 * Captures the output of each test of the calling file, and restores the exit code and everything mocked after it. No default
 * atlas is configured.
 */
export function useCapturedOutput(): CapturedOutput {
  const printed: CapturedOutput = { stdout: "", stderr: "" };
  beforeEach(() => {
    [printed.stdout, printed.stderr] = ["", ""];
    vi.stubEnv("ISOTHERM_ATLAS", undefined);
    for (const name of ["stdout", "stderr"] as const) {
      vi.spyOn(process[name], "write").mockImplementation((text: unknown, ...rest: readonly unknown[]) => {
        printed[name] += String(text);
        const done = rest.find((argument) => typeof argument === "function");
        if (done !== undefined) (done as () => void)();
        return true;
      });
    }
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
    process.exitCode = undefined;
  });
  return printed;
}
