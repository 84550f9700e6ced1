import { z } from "zod";

/** What schemas of this product are made of, and what is made of them. */

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };
/** As it is told: what holds it has been checked. */
export const anyJson = z.unknown().meta({ description: "Any JSON value." }) as unknown as z.ZodType<JsonValue>;
export const anyObject = z.record(z.string(), z.unknown()) as unknown as z.ZodType<JsonObject>;

/** ISO 8601 UTC, as it is told. */
export const time = z.string().meta({ format: "date-time" });

/** What a schema's type is to those who are given it: nobody may change it, or anything in it. JSON stays as it is. */
export type ReadOnly<T> = JsonObject extends T
  ? T
  : T extends readonly (infer U)[]
    ? readonly ReadOnly<U>[]
    : T extends object
      ? { readonly [K in keyof T]: ReadOnly<T[K]> }
      : T;
