/** The page of the explorer with the panel of a place, as tests use it. */
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import type { CurveResult, HazardResult } from "../../src/contract/wireTypes.ts";
import { type ExplorerOptions, openExplorer, type OpenedExplorer } from "./explorerPage.ts";

/** Parameters of the permalink of a place with a flood depth. */
export const DJIBOUTI =
  "view=hazards&hazard=riverine_floods&metric=depth_meters&scenario=rcp8p5&year=2050&place=11.59,43.15";
/** The query for the value of `DJIBOUTI`. */
export const DJIBOUTI_QUERY = {
  latitude: "11.59",
  longitude: "43.15",
  hazards: "riverine_floods",
  scenarios: "rcp8p5",
  analysis_years: "2050",
} as const;

/** Opens pages one after the other. */
export class PlacePages {
  #opened: OpenedExplorer | undefined;

  get opened(): OpenedExplorer {
    if (this.#opened === undefined) throw new Error("no page is open");
    return this.#opened;
  }

  /** Key and customer of the service that sent the page. */
  get credentials(): NonNullable<OpenedExplorer["credentials"]> {
    const { credentials } = this.opened;
    if (credentials === undefined) throw new Error("the page must be that of a service");
    return credentials;
  }

  async open(options: ExplorerOptions): Promise<Page> {
    this.#opened = await openExplorer(options);
    await this.#opened.context.grantPermissions(["clipboard-read", "clipboard-write"]);
    return this.#opened.page;
  }

  /** Closes the page, and expects that it did nothing forbidden. */
  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    await opened?.close();
    expect(opened?.problems ?? []).toEqual([]);
  }

  /** Asks the service as a program would. */
  answerTo(query: Readonly<Record<string, string>>): Promise<HazardResult> {
    return this.#get("hazard-risk", query);
  }

  /** As `answerTo`, for a curve. */
  curveAt(query: Readonly<Record<string, string>>): Promise<CurveResult> {
    return this.#get("hazard-risk/curve", query);
  }

  async #get<Answer>(path: string, query: Readonly<Record<string, string>>): Promise<Answer> {
    const { api_key, customer_id } = this.credentials;
    const response = await fetch(`${this.opened.url}api/v1/${path}?${new URLSearchParams(query).toString()}`, {
      headers: { "x-api-key": api_key, "x-customer-id": customer_id },
    });
    expect(response.status).toBe(200);
    return (await response.json()) as Answer;
  }
}

/** The values of the layer on the map, at the top of the panel. */
export function headline(page: Page): Locator {
  return page.locator(".headline");
}

/** Returns the flood depth of the first scenario and year as the panel shows it. */
export function depthText({ results }: HazardResult): string {
  return `${results[0]?.scenarios[0]?.analysis_years[0]?.metrics.depth_meters?.toFixed(2)} m`;
}
