/**
 * What waits for a worker, shared fairly among those it waits for: next is always a piece of work of the party that has
 * been served least, and a party's own pieces keep their order. Whoever brings a thousand pieces waits for them; whoever
 * brings one does not wait for the thousand.
 *
 * Start-time fair queueing (Goyal, Vin, Cheng 1996): a party's clock moves on by what its work costs, and a party that
 * comes anew starts where the others are, so that having been away earns no credit.
 */
export class FairQueue<Item> {
  readonly #parties = new Map<string, Line<Item>>();
  /** Where the party that was served last stood. */
  #clockMs = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(party: string, item: Item): void {
    this.#lineOf(party).waiting.push(item);
    this.#size++;
  }

  /** The next piece of work, which is no longer waiting then. */
  take(): Item | undefined {
    let least: Line<Item> | undefined;
    for (const [party, line] of this.#parties) {
      if (line.waiting.length > 0) {
        if (least === undefined || line.clockMs < least.clockMs) least = line;
      } else if (line.clockMs <= this.#clockMs) this.#parties.delete(party);
    }
    if (least === undefined) return undefined;
    this.#size--;
    this.#clockMs = Math.max(this.#clockMs, least.clockMs);
    return least.waiting.shift();
  }

  /** A party's work has cost this much: less, where more had been charged before. */
  charge(party: string, costMs: number): void {
    const line = this.#parties.get(party);
    if (line !== undefined) line.clockMs += costMs;
  }

  #lineOf(party: string): Line<Item> {
    let line = this.#parties.get(party);
    if (line === undefined) {
      line = { waiting: [], clockMs: this.#clockMs };
      this.#parties.set(party, line);
    } else if (line.waiting.length === 0) line.clockMs = Math.max(line.clockMs, this.#clockMs);
    return line;
  }
}

/** What one party waits for, and how far it has come. */
interface Line<Item> {
  readonly waiting: Item[];
  clockMs: number;
}
