import { z } from "@hono/zod-openapi";
import {
  EXPORT_FORMAT,
  EXPORT_VERSION,
  exportedMemorySchema,
  exportedSessionSchema,
  exportedTombstoneSchema,
  exportedUserSchema,
} from "../domain/export-format.js";
import { idField, jsonValue } from "./fields.js";

const any = jsonValue.optional();
const { messages, steps } = exportedSessionSchema.shape;
// JSON of any shape is told as such: its own schema refers to itself.
const message = messages.element.extend({ metadata: z.looseObject({}), item: any }).openapi("ExportedMessage");
const step = steps.element.extend({ input: any, output: any, provider: any }).openapi("ExportedStep");
const session = exportedSessionSchema
  .extend({ metadata: z.looseObject({}), messages: z.array(message), steps: z.array(step) })
  .openapi("ExportedSession");

const memory = z
  .object({ ...exportedMemorySchema.shape, id: idField, subject: z.string().openapi({ example: "companion:Ida" }) })
  .openapi("ExportedMemory");

/** What an export holds, as the API describes it. It is read by the import's own schema, which defines it. */
export const exportSchema = z
  .object({
    format: z.literal(EXPORT_FORMAT),
    version: z.literal(EXPORT_VERSION),
    exported_at: z.string().openapi({ format: "date-time" }),
    user: z.object(exportedUserSchema.shape).openapi("ExportedUser").nullable(),
    sessions: z.array(session),
    memories: z.array(memory),
    forgotten: z.array(z.object(exportedTombstoneSchema.shape).openapi("ExportedTombstone")),
    records: z.record(z.string(), z.array(z.unknown())).openapi({ description: "The domain's records, such as bookings." }),
    receipts: z.array(jsonValue).openapi({ description: "Of bookings, oldest first: a chain, as GET /v1/me/receipts has them." }),
  })
  .openapi("Export");
