import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Many files wait for services of theirs most of the time: one worker alone would leave a core idle.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // A busy machine may take a while for what is only waited for.
    expect: { poll: { timeout: 20_000 } },
    reporters: ["default", "json"],
    outputFile: { json: "build/test-report.json" },
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      exclude: ["src/**/*.generated.ts"],
      reporter: ["text", "json-summary"],
    },
  },
});
