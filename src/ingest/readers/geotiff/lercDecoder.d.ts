/** The part of the package lerc 3.0.0, which has no types, that is used. */
declare module "lerc" {
  interface DecodedBlock {
    /** The numbers of each band; one array if the bands are dimensions. */
    readonly pixels: readonly (
      | Int8Array<ArrayBuffer>
      | Uint8Array<ArrayBuffer>
      | Int16Array<ArrayBuffer>
      | Uint16Array<ArrayBuffer>
      | Int32Array<ArrayBuffer>
      | Uint32Array<ArrayBuffer>
      | Float32Array<ArrayBuffer>
      | Float64Array<ArrayBuffer>
    )[];
    /** 0 for missing cells. */
    readonly mask: Uint8Array | null | undefined;
  }
  const Lerc: {
    /** Throws texts. */
    decode(encoded: ArrayBuffer, options: { readonly returnPixelInterleavedDims: boolean }): DecodedBlock;
  };
  export default Lerc;
}
