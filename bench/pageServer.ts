/** Bare node:http servers of pages, which explorer.bench.ts compares the explorer with and publishes it on. */
import { readdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, relative } from "node:path";

export interface PageServer {
  readonly url: string;
  close(): void;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
};

/** Serves files from memory, by path. */
export async function servePages(pages: ReadonlyMap<string, string | Uint8Array>): Promise<PageServer> {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://bench").pathname;
    const body = pages.get(path);
    response.writeHead(body === undefined ? 404 : 200, {
      "Content-Type": CONTENT_TYPES[extname(path)] ?? "application/octet-stream",
    });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Serves the files of a folder, without compression. */
export async function serveFolder(folder: string): Promise<PageServer> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const pages = new Map<string, Uint8Array>();
  for (const path of paths) pages.set(`/${relative(folder, path)}`, await readFile(path));
  return servePages(pages);
}
