import { zodToOpenAPIRegistry } from "@asteasolutions/zod-to-openapi";
import { z } from "zod";
import { chatEventSchema } from "./chat-stream.js";
import { importedMessageSchema } from "./import.js";
import { headerComponents } from "./response-headers.js";
import type { ApiApp } from "./routes.js";

const SCHEMES = {
  local: { type: "apiKey", in: "header", name: "X-User-Id", description: "AUTH_MODE=local: who is speaking; default local-user." },
  header: {
    type: "apiKey",
    in: "header",
    name: "X-MS-CLIENT-PRINCIPAL-ID",
    description: "AUTH_MODE=header: set by a trusted proxy (AUTH_HEADER).",
  },
  bearer: { type: "http", scheme: "bearer", description: "AUTH_MODE=api-key or jwt." },
  operator: { type: "http", scheme: "bearer", description: "OPERATOR_TOKEN: whoever runs the server, who is no user." },
} as const;

/** The document of all routes, as text, from the schemas that validate them. */
export function openApiDocument(api: ApiApp, version: string, basePath: string): string {
  for (const [name, scheme] of Object.entries(SCHEMES)) api.openAPIRegistry.registerComponent("securitySchemes", name, scheme);
  for (const [name, header] of headerComponents()) api.openAPIRegistry.registerComponent("headers", name, header);
  // What a text holds has no place of its own in OpenAPI 3.1: these are referred to.
  api.openAPIRegistry.register("ChatEvent", chatEventSchema);
  api.openAPIRegistry.register("ImportedMessage", importedMessageSchema);
  nameSchemas(api.openAPIRegistry.definitions);
  const document = api.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "Maitred",
      version,
      description: "A memory-first conversation orchestrator. Errors are RFC 9457 problems with a stable `code`.",
      license: { name: "MIT", url: "https://opensource.org/license/mit" },
    },
    servers: [{ url: basePath || "/" }],
    security: [{ local: [] }, { header: [] }, { bearer: [] }],
  });
  for (const path of ["/healthz", "/readyz"]) {
    const operation = document.paths?.[path]?.get;
    if (operation) operation.security = [];
  }
  return JSON.stringify(document);
}

/** Schemas that name themselves (`meta({ id })`) are components of the document, wherever in these they stand. */
function nameSchemas(definitions: readonly unknown[]): void {
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
