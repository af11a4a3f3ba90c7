export declare function encodeIndexedPng(image: {
  readonly width: number;
  readonly height: number;
  readonly data: Buffer;
}): Buffer;
