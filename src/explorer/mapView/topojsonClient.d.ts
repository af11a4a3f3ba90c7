/** The parts of topojson-client that the map uses; the package has no types. */
declare module "topojson-client" {
  type Position = readonly [longitude: number, latitude: number];
  interface GeometryObject {
    readonly type: string;
  }
  export interface Topology {
    readonly type: "Topology";
    readonly objects: { readonly countries: GeometryObject; readonly land: GeometryObject };
  }
  export function feature(
    topology: Topology,
    object: GeometryObject,
  ): {
    readonly features: readonly {
      readonly geometry:
        | { readonly type: "Polygon"; readonly coordinates: readonly (readonly Position[])[] }
        | { readonly type: "MultiPolygon"; readonly coordinates: readonly (readonly (readonly Position[])[])[] };
    }[];
  };
  export function mesh(
    topology: Topology,
    object: GeometryObject,
    filter?: (a: object, b: object) => boolean,
  ): { readonly coordinates: readonly (readonly Position[])[] };
}
