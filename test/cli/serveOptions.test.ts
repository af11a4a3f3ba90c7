import { readFileSync } from "node:fs";
import { Command } from "commander";
import { describe, expect, test } from "vitest";
import {
  addServeOptions,
  commandOption,
  SERVE_OPTIONS,
  type ServeFlags,
  serverOptionsOf,
} from "../../src/cli/serveOptions.ts";

function optionsOf(...args: readonly string[]): ReturnType<typeof serverOptionsOf> {
  const command = addServeOptions(new Command()).exitOverride();
  command.configureOutput({ writeErr: () => undefined }).parse([...args], { from: "user" });
  return serverOptionsOf(command.opts<ServeFlags>());
}

describe("the options of isotherm serve", () => {
  test.each(SERVE_OPTIONS.map((option) => [commandOption(option).long ?? "", option] as const))(
    "%s is in a table of docs/operations.md, with its environment variable and default",
    (long, option) => {
      const { envVar = "" } = commandOption(option);
      const rows = readFileSync("docs/operations.md", "utf8")
        .split("\n")
        .filter((line) => line.startsWith("|") && line.includes(`\`${long}\``) && line.includes(`\`${envVar}\``));
      expect(rows.length).toBeGreaterThan(0);
      const [stated] = /(?<=\(default: )[^)]+(?=\)$)/.exec(option.description) ?? [];
      const value = String(option.byDefault ?? stated ?? "");
      const isComputed = ["--workers", "--memory"].includes(long);
      const shown = /^\d{4,}$/.test(value) && !long.endsWith("port") ? Number(value).toLocaleString("en-US") : value;
      if (!isComputed) expect(rows[0]).toContain(shown);
    },
  );

  test("set the limits of the host, each its own", () => {
    const numbers = SERVE_OPTIONS.filter(({ flag, limits, clients, timeouts }) => {
      const isSet = (limits ?? clients ?? timeouts) !== undefined;
      return isSet && !flag.startsWith("--exempt-address");
    });
    const args = numbers.flatMap(({ flag }, i) => [flag.split(" ")[0] ?? "", String(i + 1)]);
    const { limits, clients, timeouts } = optionsOf(...args, "--exempt-address", "10.0.0.0/8,::1");
    expect({ limits, clients, timeouts }).toEqual({
      limits: {
        requestBodyBytesMax: 2 ** 20,
        batchCount: 2,
        hazardValueCount: 3,
        alignmentValueCount: 3,
        detailCount: 4,
        entityCount: 5,
        customerCount: 6,
        requestsPerS: 7,
        requestBurst: 8,
        tilesPerS: 9,
        tileBurst: 10,
      },
      clients: {
        exemptAddresses: ["10.0.0.0/8", "::1"],
        openRequestsPerS: 13,
        openRequestBurst: 14,
        keyLookupsMax: 15,
      },
      timeouts: { connectionCountMax: 11, connectionsPerAddressMax: 12 },
    });
    expect(optionsOf()).toMatchObject({ limits: {}, clients: {}, timeouts: {}, port: 8080, adminPort: 9464 });
  });
});
