/**
 * Divides cells that contain the layers of several groups of a pack.
 * @param cells u16[cell][layer], with the layers of all groups
 * @returns u16[cell][layer] for each group
 */
export function divideLayers(cells: Uint16Array, layerCounts: readonly number[]): readonly Uint16Array[] {
  if (layerCounts.length === 1) return [cells];
  const layerCount = layerCounts.reduce((sum, count) => sum + count, 0);
  const cellCount = cells.length / layerCount;
  let firstLayer = 0;
  return layerCounts.map((count) => {
    const divided = new Uint16Array(cellCount * count);
    for (let cell = 0, to = 0, from = firstLayer; cell < cellCount; cell++, from += layerCount) {
      for (let layer = 0; layer < count; layer++) divided[to++] = cells[from + layer] as number;
    }
    firstLayer += count;
    return divided;
  });
}
