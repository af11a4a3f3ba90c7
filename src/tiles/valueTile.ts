/** The values of 256 x 256 pixels of a map, as steps. */
export interface ValueTile {
  readonly stepsPerUnit: number;
  /** value = step / stepsPerUnit + offset */
  readonly offset: number;
  /** Whether a pixel is the maximum of a block of cells instead of the cell at its center. */
  readonly isBlockMaximum: boolean;
  /** Row by row from the north; 65535 is no data, 65534 is outside the coverage. */
  readonly steps: Uint16Array;
}
