/** Returns the address of a service from its log once it has started. */
export function startedUrl(output: string): string | undefined {
  return /"event":"started","url":"([^"]+)"/.exec(output)?.[1];
}
