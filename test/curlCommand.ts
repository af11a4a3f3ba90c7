/** The curl commands of documentation pages, as requests that tests send. */
import { readFileSync } from "node:fs";

/** Splits a command line into words as a shell does: both kinds of quotes, and variables except in single quotes. */
function wordsOf(command: string, variables: Readonly<Record<string, string>>): readonly string[] {
  return [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, single, double, bare]) =>
    single === undefined
      ? (double ?? bare ?? "").replace(/\$([A-Z_]+)/g, (_, name: string) => variables[name] ?? "")
      : single,
  );
}

/**
 * Converts a curl command to a request. `-d` is a body, or `@` and the path of a file in the working directory.
 * @param variables values of the shell variables
 */
export function curlRequest(
  command: string,
  variables: Readonly<Record<string, string>>,
): { readonly url: string; readonly init: RequestInit } {
  const [, ...words] = wordsOf(command, variables);
  const headers = new Headers();
  let url = "";
  let body: string | undefined;
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? "";
    if (word === "-H") {
      const [, name = "", value = ""] = /^([^:]+): (.*)$/.exec(words[++i] ?? "") ?? [];
      headers.set(name, value);
    } else if (word === "-d") {
      const data = words[++i] ?? "";
      body = data.startsWith("@") ? readFileSync(data.slice(1), "utf8") : data;
    } else if (word.startsWith("-")) {
      throw new Error(`the option ${word} of curl is not supported by this test: ${command}`);
    } else url = word;
  }
  return { url, init: { headers, ...(body === undefined ? {} : { method: "POST", body }) } };
}
