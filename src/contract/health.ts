import { Type } from "typebox";

/** The response of GET /healthz. */
export const HealthSchema = Type.Object({ status: Type.Literal("ok") });

/** The response of GET /readyz. */
export const ReadinessSchema = Type.Object({ status: Type.Literal("ready") });
