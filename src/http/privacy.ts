import { z } from "@hono/zod-openapi";
import type { Config } from "../compose/config.js";
import { bookingReceiptSchema } from "../domain/booking-receipt.js";
import {
  EXPORT_FORMAT,
  EXPORT_VERSION,
  exportedMemorySchema,
  exportedSessionSchema,
  exportedTombstoneSchema,
  exportedUserSchema,
} from "../domain/export-format.js";
import { parseOwner } from "../domain/owner.js";
import { time } from "../domain/schema.js";
import { AppError } from "../platform/errors.js";
import type { Application, ApplicationInfo } from "../ports/application.js";
import { erasureReceiptSchema } from "../ports/resources.js";
import { flagQuery, idField, jsonValue, pageOf } from "./fields.js";
import { type ApiApp, answer, answers, answersAs, newApi, routesOf } from "./routes.js";
import { textStream } from "./streams.js";

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
const exportSchema = z
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

/** How long a request waits for its receipt, in milliseconds: longer than for a replica that was killed, and shorter than clients wait. */
const RECEIPT_WAIT_MS = 20_000;

export const meSchema = z
  .object({
    user: z.object({
      tenant: z.string(),
      id: z.string(),
      display_name: z.string().nullable(),
      provider: z.string().nullable(),
      time_zone: z.string().nullable(),
      first_seen_at: time.nullable(),
      last_seen_at: time.nullable(),
    }),
    server: z.object({
      version: z.string(),
      auth_mode: z.enum(["local", "header", "api-key", "jwt"]),
      model: z.object({ name: z.string(), stand_in: z.boolean() }),
      long_term: z.object({ enabled: z.boolean(), location: z.string().nullable() }),
      embedder: z.object({ id: z.string(), lexical: z.boolean() }),
      history: z.object({ backend: z.string() }),
      short_term: z.string(),
      storage_dir: z.string().nullable().openapi({ description: "Only in local mode, as `keys` is." }),
      keys: z.record(z.string(), z.boolean()).nullable().openapi({ description: "By variable: whether a key is set." }),
    }),
  })
  .openapi("Me");

const route = routesOf("Privacy");
const bookingPage = pageOf(jsonValue).openapi("BookingPage");
const receiptPage = pageOf(bookingReceiptSchema).openapi("BookingReceipts");
const routes = {
  me: route("get", "/v1/me", "getMe", {
    summary: "Who the server takes the caller for, and what it runs on",
    responses: answers(meSchema, "The user and the server."),
  }),
  bookings: route("get", "/v1/me/bookings", "listBookings", {
    summary: "What the user has booked: the records of the domain, as an export has them; at most the last 500",
    responses: answers(bookingPage, "The bookings, in the domain's order: the concierge's by when they begin."),
  }),
  receipts: route("get", "/v1/me/receipts", "listReceipts", {
    summary: "What was checked before each booking, newest first; at most the last 500. `maitred verify` replays them",
    responses: answers(receiptPage, "The receipts, a chain of hashes."),
  }),
  export: route("get", "/v1/me/export", "exportMe", {
    summary: "Everything about the user, streamed; POST /v1/import takes it back",
    responses: answersAs({ "application/json": exportSchema }, "The export.", ["Content-Disposition"]),
    fails: ["LONG_TERM_MEMORY_UNAVAILABLE"],
  }),
  erase: route("delete", "/v1/me", "eraseMe", {
    summary: "Erase everything about the user; asked again while it goes on, it gives the same receipt",
    request: { query: z.strictObject({ confirm: flagQuery }) },
    responses: answers(erasureReceiptSchema, "The receipt."),
    fails: ["CONFIRMATION_REQUIRED", "ERASURE_UNDER_WAY", "LONG_TERM_MEMORY_UNAVAILABLE", "HISTORY_UNAVAILABLE"],
  }),
};

/** Where things are is for the machine's own user; others need not know. */
function serverInfo(info: ApplicationInfo, authMode: Config["AUTH_MODE"]) {
  return {
    version: info.version,
    auth_mode: authMode,
    model: { name: info.model.name, stand_in: info.model.standIn },
    long_term: { enabled: info.longTerm.enabled, location: authMode === "local" ? info.longTerm.location : null },
    embedder: { id: info.embedder.id, lexical: info.embedder.lexical },
    history: { backend: info.history.backend },
    short_term: info.shortTerm,
    storage_dir: authMode === "local" ? info.storageDir : null,
    keys: authMode === "local" ? info.keys : null,
  };
}

export function privacyRoutes(
  application: Pick<Application, "info" | "modelOf" | "privacy" | "user">,
  authMode: Config["AUTH_MODE"],
): ApiApp {
  const api = newApi();
  api.openapi(routes.me, async (c) => {
    const owner = c.get("owner");
    const record = await application.user(owner);
    const { tenant, user } = parseOwner(owner);
    return answer(c, meSchema, {
      user: {
        tenant,
        id: user,
        display_name: record?.displayName ?? c.get("identity").displayName ?? null,
        provider: record?.provider ?? c.get("identity").provider ?? null,
        time_zone: record?.timeZone ?? c.get("identity").timeZone ?? null,
        first_seen_at: record?.firstSeenAt ?? null,
        last_seen_at: record?.lastSeenAt ?? null,
      },
      server: serverInfo({ ...application.info, model: application.modelOf(owner) }, authMode),
    });
  });
  api.openapi(routes.receipts, async (c) =>
    answer(c, receiptPage, { data: await application.privacy.receipts(c.get("owner")), next_cursor: null }),
  );
  api.openapi(routes.bookings, async (c) =>
    answer(c, bookingPage, { data: await application.privacy.records(c.get("owner")), next_cursor: null }),
  );
  api.openapi(routes.export, async (c) => {
    const stream = await textStream(application.privacy.export(c.get("owner"), { by: "user" }));
    return c.body(stream, 200, {
      "Content-Type": "application/json",
      "Content-Disposition": 'attachment; filename="maitred-export.json"',
    });
  });
  api.openapi(routes.erase, async (c) => {
    if (!c.req.valid("query").confirm) throw new AppError("CONFIRMATION_REQUIRED");
    const waits = { waitMs: RECEIPT_WAIT_MS, signal: c.req.raw.signal };
    return answer(c, erasureReceiptSchema, await application.privacy.erase(c.get("owner"), { by: "user", ...waits }));
  });
  return api;
}
