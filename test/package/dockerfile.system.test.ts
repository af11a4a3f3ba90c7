import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { DockerfileParser, type JSONInstruction } from "dockerfile-ast";
import { validate, ValidationSeverity } from "dockerfile-utils";
import { describe, expect, test } from "vitest";

/** Lints the Dockerfile. The image is not built here, because that needs a container engine and base images. */
const read = (path: string): string => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), "utf8");
const text = read("Dockerfile");
const dockerfile = DockerfileParser.parse(text);
const instructions = dockerfile.getInstructions();

/** Returns the instructions of the last stage, which becomes the image. */
function finalStage(): typeof instructions {
  return instructions.slice(instructions.findLastIndex((instruction) => instruction.getKeyword() === "FROM"));
}

const argumentsOf = (keyword: string): readonly string[] =>
  finalStage()
    .filter((instruction) => instruction.getKeyword() === keyword)
    .map((instruction) => instruction.getArgumentsContent() ?? "");

describe("the Dockerfile", () => {
  test("has no findings of the linter", () => {
    const { ERROR } = ValidationSeverity;
    expect(
      validate(text, {
        deprecatedMaintainer: ERROR,
        directiveCasing: ERROR,
        emptyContinuationLine: ERROR,
        instructionCasing: ERROR,
        instructionCmdMultiple: ERROR,
        instructionEntrypointMultiple: ERROR,
        instructionHealthcheckMultiple: ERROR,
        instructionJSONInSingleQuotes: ERROR,
        instructionWorkdirRelative: ERROR,
      }).map(({ range, message }) => ({ line: range.start.line + 1, message })),
    ).toEqual([]);
  });

  test("has two stages whose base images have the version of Node.js that the tests use", () => {
    const images = dockerfile.getFROMs().map((from) => from.getImage());
    expect(images).toEqual(["node:${NODE_VERSION}-bookworm-slim", "node:${NODE_VERSION}-bookworm-slim"]);
    const { devDependencies } = JSON.parse(read("package.json")) as { readonly devDependencies: { node: string } };
    expect(/^ARG NODE_VERSION=(.+)$/m.exec(text)?.[1]).toBe(devDependencies.node);
  });

  test("runs as a user without privileges who owns the data folder", () => {
    expect(argumentsOf("USER")).toEqual(["node"]);
    expect(argumentsOf("VOLUME")).toEqual(["/data"]);
    expect(argumentsOf("RUN").join("\n")).toContain("install -d -o node -g node -m 0700 /data");
  });

  test("copies only files that the build context has", () => {
    const ignored = read(".dockerignore").trim().split("\n");
    const sources = dockerfile
      .getCOPYs()
      .filter((copy) => copy.getFlags().length === 0)
      .flatMap((copy) => copy.getArguments().slice(0, -1).map(String))
      .filter((source) => source !== ".");
    for (const source of sources) expect(read(source).length).toBeGreaterThan(0);
    expect(sources.filter((source) => ignored.includes(source))).toEqual([]);
    expect(ignored).toEqual(expect.arrayContaining([".git", "**/node_modules", "debug", "dist", "isotherm-data"]));
  });
});

describe("the health check", () => {
  test.each([
    [200, 0],
    [503, 1],
  ])("turns status %i into exit code %i", async (status, expected) => {
    const paths: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      paths.push(request.url);
      response.writeHead(status).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    expect(await runHealthCheck(port)).toBe(expected);
    expect(paths).toEqual(["/healthz"]);
    await new Promise((resolve) => server.close(resolve));
    expect(await runHealthCheck(port)).toBe(1);
  });
});

/** Runs the command of HEALTHCHECK against a port of this machine and returns its exit code. */
function runHealthCheck(port: number): Promise<number> {
  const check = finalStage().find((instruction) => instruction.getKeyword() === "HEALTHCHECK") as JSONInstruction;
  const [node, ...words] = JSON.parse(
    /CMD (\[.*\])$/s.exec(check.getArgumentsContent() ?? "")?.[1] ?? "[]",
  ) as string[];
  expect(node).toBe("node");
  const env = { ...process.env, ISOTHERM_PORT: String(port) };
  return new Promise((resolve) => {
    execFile(process.execPath, words, { env }, (error) => resolve(error === null ? 0 : Number(error.code)));
  });
}
