/**
 * A queue that serves tenants fairly: the next item belongs to the waiting tenant that has been served least. A tenant
 * with a thousand items therefore does not delay a tenant with one.
 *
 * Start-time fair queueing (Goyal, Vin, Cheng 1996): the clock of a tenant advances by the cost of its items, and a tenant
 * that returns starts at the clock of the others, so that it gains no advantage from its absence.
 *
 * A tenant's items keep their order. Its long items, which are added again after each turn, have separate turns, every
 * second one: the oldest is completed before the next begins, because otherwise all would end late instead of one after
 * the other.
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

  /** Adds a long item among the long items of a tenant. @param order smaller numbers are served first */
  addLong(tenant: string, item: Item, order: number): void {
    const { longItems } = this.#lineOf(tenant);
    let index = longItems.length;
    while (index > 0 && (longItems[index - 1]?.order ?? 0) > order) index--;
    longItems.splice(index, 0, { item, order });
    this.#size++;
  }

  /** Removes and returns the next item. */
  take(): Item | undefined {
    let leastServed: Line<Item> | undefined;
    for (const [tenant, line] of this.#lines) {
      if (!isEmpty(line)) {
        if (leastServed === undefined || line.clockMs < leastServed.clockMs) leastServed = line;
      } else if (line.clockMs <= this.#clockMs) this.#lines.delete(tenant);
    }
    if (leastServed === undefined) return undefined;
    this.#size--;
    this.#clockMs = Math.max(this.#clockMs, leastServed.clockMs);
    const { items, longItems } = leastServed;
    const isLongTurn = longItems.length > 0 && (items.length === 0 || leastServed.isLongNext);
    leastServed.isLongNext = !isLongTurn;
    return isLongTurn ? longItems.shift()?.item : items.shift();
  }

  /** Adds a cost to the clock of a tenant; a negative cost corrects an estimate charged earlier. */
  charge(tenant: string, costMs: number): void {
    const line = this.#lines.get(tenant);
    if (line !== undefined) line.clockMs += costMs;
  }

  #lineOf(tenant: string): Line<Item> {
    let line = this.#lines.get(tenant);
    if (line === undefined) {
      line = { items: [], longItems: [], isLongNext: false, clockMs: this.#clockMs };
      this.#lines.set(tenant, line);
    } else if (isEmpty(line)) line.clockMs = Math.max(line.clockMs, this.#clockMs);
    return line;
  }
}

/** The waiting items of one tenant, and the accumulated cost of its served items. */
interface Line<Item> {
  readonly items: Item[];
  /** In ascending order. */
  readonly longItems: { readonly item: Item; readonly order: number }[];
  /** Whether the next turn belongs to the long items. */
  isLongNext: boolean;
  clockMs: number;
}

function isEmpty({ items, longItems }: Line<unknown>): boolean {
  return items.length === 0 && longItems.length === 0;
}
