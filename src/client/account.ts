/** A part of the account that usage is counted for. */
export interface Customer {
  /** What data calls name. */
  readonly customer_id: string;
  /** The caller's own, unique within the account. */
  readonly internal_id: string;
  readonly name: string | null;
  readonly created_at: string;
  /** `null` while data may be asked for this customer. */
  readonly archived_at: string | null;
}

export interface CustomerRegistration {
  /** 1 to 200 characters, no control characters. */
  readonly internal_id: string;
  /** The same. Replaces the name of a customer that is registered already; absent, the name stays. */
  readonly name?: string;
}

/** A page of a list; `next` is the cursor of the one after it, absent on the last. */
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
  /** Days in UTC, `YYYY-MM-DD`, with the first and without the last. */
  readonly from?: string;
  readonly to?: string;
  /** One customer's alone. */
  readonly customer_id?: string;
  /** Default: customer and meter. */
  readonly group_by?: readonly UsageGroup[];
}

/** A line of usage; what is not grouped by is absent. */
export interface UsageLine {
  readonly customer_id?: string;
  readonly internal_id?: string;
  readonly meter?: Meter;
  /** `YYYY-MM-DD` or `YYYY-MM`. */
  readonly period?: string;
  readonly requests: number;
  readonly units: number;
}

/** What one request, and one account, may ask for. */
export interface Limits {
  /** Of a request's address and headers. */
  readonly head_bytes: number;
  readonly body_bytes: number;
  /** Lists and objects within one another. */
  readonly json_depth: number;
  readonly batch_elements: number;
  readonly hazard_values: number;
  readonly entities: number;
  readonly alignment_values: number;
  /** Of either kind of values, those asked for with `detail`. */
  readonly detail_values: number;
  readonly radius_km: number;
  readonly requests_per_second: number;
  readonly request_burst: number;
}
