import { type IndustryMap, readIndustryMap } from "../reference/industryMap.ts";
import { firstLine, parseCsvRows } from "./csvRows.ts";
import { decodeUtf8, readBytes, statInput } from "./fileIo.ts";

/**
 * Reads the file of `--industry-map`: CSV with the columns code, industry and, optionally, system.
 *
 * @throws Fault `configuration_invalid` if there is no such file, `invalid_request` with every error in it
 */
export async function readIndustryMapFile(path: string): Promise<IndustryMap> {
  await statInput(path);
  const rows: { readonly line: number; readonly cells: readonly string[] }[] = [];
  for await (const batch of parseCsvRows(decodeUtf8(readBytes(path, () => undefined)))) {
    rows.push(...batch.map((row) => ({ line: firstLine(row), cells: row.cells })));
  }
  return readIndustryMap(rows);
}
