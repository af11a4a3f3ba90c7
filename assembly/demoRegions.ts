/**
 * Bytes of one ellipse record, f64[5]: center latitude, center longitude, half-height, half-width (all in degrees),
 * weight. The regions below are approximated by eye from published maps; they are not derived from data.
 */
export const ELLIPSE_BYTES: usize = 40;

/** Tropical cyclone basins; the weight is the 100-year wind at the center, m/s. The South Atlantic has none. */
export const BASIN_COUNT: i32 = 10;
// prettier-ignore
export const BASINS: usize = memory.data<f64>([
  20, 134, 27, 42, 88,        // northwest Pacific
  17, -116, 15, 38, 74,       // northeast Pacific
  25, -72, 23, 36, 84,        // north Atlantic
  22, -92, 13, 14, 50,        // Gulf of Mexico
  17, 89, 11, 12, 68,         // Bay of Bengal
  17, 65, 11, 12, 56,         // Arabian Sea
  -17, 62, 19, 32, 78,        // southwest Indian Ocean
  -17, 117, 15, 20, 76,       // northwest Australia
  -17, 158, 16, 26, 74,       // Coral Sea
  -17, 183, 15, 26, 66,       // south Pacific
]);

/** Fire-prone regions (weight above 0) and regions without fuel or too wet to burn (below 0). */
export const FIRE_REGION_COUNT: i32 = 40;
// prettier-ignore
export const FIRE_REGIONS: usize = memory.data<f64>([
  39, 12, 7, 28, 0.5,         // Mediterranean
  39.5, -4, 6, 8, 0.3,        // Iberia
  36, 45, 6, 15, 0.35,        // Anatolia to Iran
  38, -120, 9, 8, 0.7,        // California
  35, -108, 10, 13, 0.45,     // southwest of North America
  43, -115, 7, 10, 0.25,      // Great Basin
  22, -102, 8, 8, 0.4,        // Mexico
  -35, -71, 6, 4, 0.6,        // central Chile
  -32.5, 21, 6, 10, 0.5,      // Cape
  -32, 119, 6, 8, 0.5,        // southwest Australia
  -35, 146, 7, 11, 0.6,       // southeast Australia
  -18, 134, 8, 18, 0.55,      // north Australia
  -25, 134, 9, 16, 0.25,      // the interior of Australia
  10.5, 8, 6, 32, 0.65,       // Sahel and Guinea savannas
  6, 40, 8, 9, 0.3,           // east Africa
  -14, 25, 11, 20, 0.65,      // southern African savannas
  -19, 46.5, 7, 4, 0.45,      // Madagascar
  -12, -48, 11, 12, 0.6,      // Cerrado
  -24, -61, 8, 9, 0.45,       // Chaco
  7, -68, 5, 7, 0.35,         // Llanos
  20, 78, 9, 10, 0.5,         // Deccan
  17, 101, 7, 8, 0.35,        // Indochina
  29, 66, 6, 9, 0.3,          // Indus
  48, 62, 7, 32, 0.4,         // steppes of central Asia
  47, 112, 6, 14, 0.3,        // Mongolia
  61, 115, 9, 40, 0.25,       // Siberian forests
  57, -112, 9, 24, 0.28,      // Canadian forests
  65, -152, 5, 12, 0.2,       // Alaska
  24, 8, 10, 34, -1.2,        // Sahara
  22, 48, 8, 10, -0.9,        // Arabia
  40, 84, 5, 10, -0.6,        // Taklamakan
  43, 104, 4, 10, -0.4,       // Gobi
  -23, -69.5, 7, 2.5, -0.8,   // Atacama
  -23, 15, 7, 2, -0.6,        // Namib
  -4, -63, 10, 15, -0.9,      // Amazonia
  0, 21, 7, 11, -0.9,         // Congo
  0, 113, 9, 26, -0.7,        // Malay archipelago
  -5, 141, 6, 11, -0.7,       // New Guinea
  33, 88, 6, 13, -0.7,        // Tibet
  5, -76, 7, 4, -0.6,         // Choco
]);

/** Deserts; where the weights sum to 1 or more, the only rivers are large ones that rise elsewhere. */
export const DESERT_COUNT: i32 = 11;
// prettier-ignore
export const DESERTS: usize = memory.data<f64>([
  23.5, 8, 10, 36, 1.6,       // Sahara
  22, 48, 10, 12, 1.6,        // Arabia
  31, 58, 6, 9, 0.9,          // Iran
  27, 70, 4, 5, 0.8,          // Thar
  40, 72, 7, 36, 0.9,         // Karakum to Taklamakan
  43, 106, 4, 10, 0.8,        // Gobi
  -25, 131, 8, 16, 1.2,       // the interior of Australia
  -23, 18, 8, 7, 1.1,         // Namib and Kalahari
  -22, -69.5, 9, 3, 1.5,      // Atacama
  34, -113, 6, 7, 0.9,        // Sonora and Mojave
  -45, -69, 6, 3, 0.7,        // Patagonia
]);

/** Coastal lowlands; where the weights sum to 1 or more, the ground is flattest. */
export const LOWLAND_COUNT: i32 = 16;
// prettier-ignore
export const LOWLANDS: usize = memory.data<f64>([
  52.6, 5, 1.6, 3, 1.3,       // Netherlands
  53.7, 9, 1, 2.5, 1,         // German Bight
  52.8, 0.2, 0.8, 0.9, 0.9,   // Fens
  45.2, 12.2, 1, 1, 1.2,      // Po
  31, 31.2, 1.2, 1.8, 1.2,    // Nile
  22.8, 89.8, 1.6, 2.6, 1.4,  // Ganges and Brahmaputra
  16.3, 95.2, 1.4, 1.6, 1.2,  // Irrawaddy
  10, 105.8, 1.6, 1.6, 1.3,   // Mekong
  13.8, 100.5, 1, 1, 1.1,     // Chao Phraya
  20.8, 106.4, 0.9, 1.1, 1.1, // Red River
  22.7, 113.4, 0.8, 0.9, 1,   // Pearl River
  32, 120.8, 2.2, 1.6, 1.2,   // Yangtze
  37.8, 118.6, 1.6, 1.6, 1.1, // Yellow River
  29.8, -90.8, 1.3, 3, 1.3,   // Mississippi
  26, -80.8, 1.6, 1, 1.1,     // south Florida
  4.9, 6, 1, 1.6, 1.2,        // Niger
]);

/**
 * Returns the weight at a location: that of the ellipse at its center, decreasing quadratically to 0 at the rim and 0
 * outside.
 */
export function ellipseWeight(ellipse: usize, latDeg: f64, lonDeg: f64): f64 {
  const relativeLat = (latDeg - load<f64>(ellipse)) / load<f64>(ellipse, 16);
  if (!(Math.abs(relativeLat) < 1)) return 0;
  let lonDistanceDeg = Math.abs(lonDeg - load<f64>(ellipse, 8));
  if (lonDistanceDeg > 180.0) lonDistanceDeg = 360.0 - lonDistanceDeg;
  const relativeLon = lonDistanceDeg / load<f64>(ellipse, 24);
  const share = 1.0 - relativeLat * relativeLat - relativeLon * relativeLon;
  return share > 0 ? load<f64>(ellipse, 32) * share : 0.0;
}
