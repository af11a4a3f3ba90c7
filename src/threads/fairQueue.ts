/**
 * A queue that serves tenants fairly: the next item belongs to the waiting tenant that has been served least, and the
 * items of one tenant keep their order. A tenant with a thousand items therefore does not delay a tenant with one.
 *
 * Start-time fair queueing (Goyal, Vin, Cheng 1996): the clock of a tenant advances by the cost of its items, and a tenant
 * that returns starts at the clock of the others, so that it gains no advantage from its absence.
 */
export class FairQueue<Item> {
  readonly #lines = new Map<string, Line<Item>>();
  /** Clock of the tenant that was served last. */
  #clockMs = 0;
  #size = 0;

  /** Number of waiting items. */
  get size(): number {
    return this.#size;
  }

  /** Adds an item at the end of the items of a tenant. */
  add(tenant: string, item: Item): void {
    this.#lineOf(tenant).items.push(item);
    this.#size++;
  }

  /** Removes and returns the next item. */
  take(): Item | undefined {
    let leastServed: Line<Item> | undefined;
    for (const [tenant, line] of this.#lines) {
      if (line.items.length > 0) {
        if (leastServed === undefined || line.clockMs < leastServed.clockMs) leastServed = line;
      } else if (line.clockMs <= this.#clockMs) this.#lines.delete(tenant);
    }
    if (leastServed === undefined) return undefined;
    this.#size--;
    this.#clockMs = Math.max(this.#clockMs, leastServed.clockMs);
    return leastServed.items.shift();
  }

  /** Adds a cost to the clock of a tenant; a negative cost corrects an estimate charged earlier. */
  charge(tenant: string, costMs: number): void {
    const line = this.#lines.get(tenant);
    if (line !== undefined) line.clockMs += costMs;
  }

  #lineOf(tenant: string): Line<Item> {
    let line = this.#lines.get(tenant);
    if (line === undefined) {
      line = { items: [], clockMs: this.#clockMs };
      this.#lines.set(tenant, line);
    } else if (line.items.length === 0) line.clockMs = Math.max(line.clockMs, this.#clockMs);
    return line;
  }
}

/** The waiting items of one tenant, and the accumulated cost of its served items. */
interface Line<Item> {
  readonly items: Item[];
  clockMs: number;
}
