import { zodToOpenAPIRegistry } from "@asteasolutions/zod-to-openapi";
import { z } from "zod";

/** Schemas that name themselves (`meta({ id })`) are components of the document, wherever in these they stand. */
export function nameSchemas(definitions: readonly unknown[]): void {
  const seen = new Set<unknown>();
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null || seen.has(value)) return;
    seen.add(value);
    const inner = value instanceof z.ZodType ? value._zod.def : value;
    const id = value instanceof z.ZodType ? nameOf(value) : undefined;
    if (id !== undefined) zodToOpenAPIRegistry.add(value as z.ZodType, { _internal: { refId: id } });
    for (const each of Object.values(inner)) visit(each);
  };
  visit(definitions);
}

function nameOf(schema: z.ZodType): string | undefined {
  const isWrapped = schema instanceof z.ZodNullable || schema instanceof z.ZodOptional;
  return schema.meta()?.id ?? (isWrapped ? nameOf(schema.unwrap() as z.ZodType) : undefined);
}
