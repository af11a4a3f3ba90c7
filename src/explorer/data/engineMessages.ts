import type { ProblemItem } from "../../contract/wireTypes.ts";
import type { ExplorerData } from "./explorerData.ts";

/** The functions of the engine, which the worker runs: everything that a view can request. */
export type Engine = Omit<ExplorerData, "kind" | "atlasAddress" | "newRelease" | "close">;
export type EngineFunction = keyof Engine;

/** Parameters of a function without the signal, which cannot be sent to a worker. */
export type EngineArguments<Name extends EngineFunction> =
  Required<Parameters<Engine[Name]>> extends [...infer Arguments, AbortSignal] ? Arguments : never;
export type EngineResult<Name extends EngineFunction> = Awaited<ReturnType<Engine[Name]>>;

/** Sent to the worker: first the address of the atlas, then calls and their cancellations. */
export type EngineRequest =
  | { readonly kind: "open"; readonly atlasAddress: string }
  | {
      readonly kind: "call";
      readonly id: number;
      readonly name: EngineFunction;
      readonly args: readonly unknown[];
    }
  | { readonly kind: "cancel"; readonly id: number };

/** An error of the engine, as sent to the page. */
export interface EngineProblem {
  readonly code: string;
  readonly message: string;
  readonly items: readonly ProblemItem[];
}

/** Sent by the worker: one response per call. */
export type EngineResponse =
  { readonly id: number; readonly result: unknown } | { readonly id: number; readonly problem: EngineProblem };
