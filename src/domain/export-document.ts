import { z } from "zod";
import { AppError } from "../platform/errors.js";
import {
  EXPORT_FORMAT,
  EXPORT_VERSION,
  exportedMemorySchema,
  exportedSessionSchema,
  exportedTombstoneSchema,
  exportedUserSchema,
} from "./export-format.js";
import type { JsonValue } from "./session.js";

const json = z.json() as unknown as z.ZodType<JsonValue>;

const exportSchema = z.object({
  format: z.literal(EXPORT_FORMAT),
  version: z.literal(EXPORT_VERSION),
  user: exportedUserSchema.nullable().default(null),
  sessions: z.array(exportedSessionSchema),
  memories: z.array(exportedMemorySchema).default([]),
  forgotten: z.array(exportedTombstoneSchema).default([]),
  records: z.record(z.string(), z.array(json)).default({}),
  receipts: z.array(json).default([]),
});
export type ExportDocument = z.infer<typeof exportSchema>;

const MAX_PROBLEMS = 10;

/** @throws INVALID_IMPORT, with JSON pointers to what is wrong */
export function parseExport(document: unknown): ExportDocument {
  const parsed = exportSchema.safeParse(document);
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues.slice(0, MAX_PROBLEMS).map((issue) => {
    const pointer = issue.path.map((part) => `/${String(part)}`).join("");
    return { pointer, detail: `${pointer || "the document"}: ${issue.message}` };
  });
  throw new AppError("INVALID_IMPORT", {
    detail: errors[0]?.detail ?? "The document is not an export.",
    hint: "Send what GET /v1/me/export gave, a ChatGPT, Chainlit, Firestore or Chroma export (docs/coming-from.md), or JSON lines.",
    errors,
  });
}
