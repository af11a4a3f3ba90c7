/**
 * Maps the items of a source, several at a time, and yields the results in the order of the items. Takes the next item while
 * the caller uses a result.
 *
 * @param aheadMax number of items that are mapped, or have a result that waits for the caller, at a time
 * @throws errors of the source and of `map`, after all items that were taken have been mapped
 */
export async function* mapAhead<Item, Result>(
  items: AsyncIterable<Item>,
  aheadMax: number,
  map: (item: Item) => Promise<Result>,
): AsyncGenerator<Result, void, undefined> {
  const source = items[Symbol.asyncIterator]();
  const mapped: Promise<Result>[] = [];
  let taken: Promise<IteratorResult<Item>> | undefined;
  let isAtEnd = false;
  const take = async (): Promise<void> => {
    const { done, value } = await (taken ??= source.next());
    taken = undefined;
    if (done === true) isAtEnd = true;
    else {
      const result = map(value);
      result.catch(() => undefined); // awaited later
      mapped.push(result);
    }
  };
  try {
    for (;;) {
      const first = mapped[0];
      const hasSpace = !isAtEnd && mapped.length < aheadMax;
      if (first === undefined) {
        if (isAtEnd) return;
        await take();
      } else if (hasSpace && !(await isFirstSettled(first, (taken ??= source.next())))) await take();
      else {
        void mapped.shift();
        yield await first;
      }
    }
  } finally {
    await Promise.allSettled([taken, ...mapped]);
    await source.return?.();
  }
}

/** Waits for one of two promises. @returns whether the first has settled */
async function isFirstSettled(first: Promise<unknown>, second: Promise<unknown>): Promise<boolean> {
  const settled = (isFirst: boolean) => (): boolean => isFirst;
  return await Promise.race([first.then(settled(true), settled(true)), second.then(settled(false), settled(false))]);
}
