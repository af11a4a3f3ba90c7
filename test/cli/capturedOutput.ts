import { afterEach, beforeEach, vi } from "vitest";

/** What a test has printed. */
export interface CapturedOutput {
  stdout: string;
  stderr: string;
}

/** Captures what is printed from now on, until all mocks are restored. */
export function captureOutput(printed: CapturedOutput): void {
  [printed.stdout, printed.stderr] = ["", ""];
  for (const name of ["stdout", "stderr"] as const) {
    vi.spyOn(process[name], "write").mockImplementation((text: unknown, ...rest: readonly unknown[]) => {
      printed[name] += String(text);
      const done = rest.find((argument) => typeof argument === "function");
      if (done !== undefined) (done as () => void)();
      return true;
    });
  }
}

/**
 * Captures the output of each test of the calling file, and restores the exit code and everything mocked after it. No default
 * atlas is configured.
 */
export function useCapturedOutput(): CapturedOutput {
  const printed: CapturedOutput = { stdout: "", stderr: "" };
  beforeEach(() => {
    captureOutput(printed);
    vi.stubEnv("ISOTHERM_ATLAS", undefined);
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
    process.exitCode = undefined;
  });
  return printed;
}
