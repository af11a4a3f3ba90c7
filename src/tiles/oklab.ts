/**
 * Colors from OKLab, a color space in which distances match perceived differences (Björn Ottosson, "A perceptual color
 * space for image processing", 2020).
 */

/** Red, green and blue, 0 to 255. */
export type Rgb = readonly [red: number, green: number, blue: number];
/** Lightness 0 to 1, green-red and blue-yellow. */
type Oklab = readonly [lightness: number, a: number, b: number];

/** Returns the sRGB component of linear light, not rounded; outside 0 to 255 if the color is not in the gamut of sRGB. */
function componentOf(linear: number): number {
  return 255 * (linear <= 0.0031308 ? 12.92 * linear : 1.055 * linear ** (1 / 2.4) - 0.055);
}

function fromOklab([lightness, a, b]: Oklab): Rgb {
  const long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    componentOf(4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short),
    componentOf(-1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short),
    componentOf(-0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short),
  ];
}

/** Steps in which chroma is reduced until a color is in the gamut. */
const CHROMA_STEP = 0.98;

/** Returns the color of a lightness, chroma and hue, with the chroma reduced until sRGB has the color. */
export function rgbOfLch(color: { readonly lightness: number; readonly chroma: number; readonly hueDeg: number }): Rgb {
  const { lightness, hueDeg } = color;
  const hue = (hueDeg * Math.PI) / 180;
  for (let chroma = color.chroma; ; chroma = chroma < 1e-3 ? 0 : chroma * CHROMA_STEP) {
    const rgb = fromOklab([lightness, chroma * Math.cos(hue), chroma * Math.sin(hue)]);
    if (chroma === 0 || rgb.every((component) => component >= 0 && component <= 255)) {
      const [red, green, blue] = rgb.map((component) => Math.round(Math.max(0, Math.min(255, component))));
      return [red ?? 0, green ?? 0, blue ?? 0];
    }
  }
}
