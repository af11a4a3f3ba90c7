/**
 * How colors look: OKLab coordinates (Ottosson 2020), and simulated color blindness in linear sRGB (Machado, Oliveira and
 * Fernandes 2009, doi:10.1109/TVCG.2009.113, severity 1).
 */
export type Triple = readonly [number, number, number];
type Matrix = readonly [Triple, Triple, Triple];

export const COLOR_VISIONS = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
} as const satisfies Record<string, Matrix>;
export type ColorVision = keyof typeof COLOR_VISIONS;

/** Returns the OKLab coordinates of a color `#rrggbb` as a color vision sees it: lightness, green-red, blue-yellow. */
export function seenAs(vision: ColorVision, color: string): Triple {
  const components = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255);
  const [r = 0, g = 0, b = 0] = components.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  const [red, green, blue] = product(COLOR_VISIONS[vision], [r, g, b]).map((c) => Math.max(0, Math.min(1, c)));
  const cones = product(
    [
      [0.4122214708, 0.5363325363, 0.0514459929],
      [0.2119034982, 0.6806995451, 0.1073969566],
      [0.0883024619, 0.2817188376, 0.6299787005],
    ],
    [red ?? 0, green ?? 0, blue ?? 0],
  );
  return product(
    [
      [0.2104542553, 0.793617785, -0.0040720468],
      [1.9779984951, -2.428592205, 0.4505937099],
      [0.0259040371, 0.7827717662, -0.808675766],
    ],
    [Math.cbrt(cones[0]), Math.cbrt(cones[1]), Math.cbrt(cones[2])],
  );
}

export function distance(a: Triple, b: Triple): number {
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

function product(matrix: Matrix, vector: Triple): Triple {
  const row = (of: Triple): number => of[0] * vector[0] + of[1] * vector[1] + of[2] * vector[2];
  return [row(matrix[0]), row(matrix[1]), row(matrix[2])];
}
