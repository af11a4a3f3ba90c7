/** A subdivision of the account that usage is attributed to. */
export interface Customer {
  /** Identifies the customer in data calls. */
  readonly customer_id: string;
  /** The caller's own id, unique within the account. */
  readonly internal_id: string;
  readonly name: string | null;
  readonly created_at: string;
  /** `null` unless the customer is archived. */
  readonly archived_at: string | null;
}

export interface CustomerRegistration {
  /** 1 to 200 characters, no control characters. */
  readonly internal_id: string;
  /** Same format. Replaces the name of a customer that is already registered; if absent, the name is unchanged. */
  readonly name?: string;
}

/** A page of a list; `next` is the cursor of the next page, absent on the last page. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next?: string;
}

export interface PageQuestion {
  /** 1 to 500, default 50. */
  readonly limit?: number;
  readonly cursor?: string;
}

export type Meter = "hazard_values" | "alignment_values" | "company_results";
export type UsageGroup = "customer" | "meter" | "day" | "month";

export interface UsageQuestion {
  /** First day and day after the last, UTC, `YYYY-MM-DD`. */
  readonly from?: string;
  readonly to?: string;
  /** Limits usage to this customer. */
  readonly customer_id?: string;
  /** Default: customer and meter. */
  readonly group_by?: readonly UsageGroup[];
}

/** A line of usage; members that are not grouped by are absent. */
export interface UsageLine {
  readonly customer_id?: string;
  readonly internal_id?: string;
  readonly meter?: Meter;
  /** `YYYY-MM-DD` or `YYYY-MM`. */
  readonly period?: string;
  readonly requests: number;
  readonly units: number;
}

/** Limits per request and per account. */
export interface Limits {
  /** Size of the request line and headers. */
  readonly head_bytes: number;
  readonly body_bytes: number;
  /** Nesting depth of lists and objects. */
  readonly json_depth: number;
  readonly batch_elements: number;
  readonly hazard_values: number;
  readonly entities: number;
  readonly alignment_values: number;
  /** Hazard or alignment values per request with `detail`. */
  readonly detail_values: number;
  readonly radius_km: number;
  readonly requests_per_second: number;
  readonly request_burst: number;
}
