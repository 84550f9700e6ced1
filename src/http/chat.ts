import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Chat, ChatRequest } from "../application.js";
import type { JsonObject } from "../session.js";
import { requestHash } from "./body.js";
import { type StreamLimits, streamTurn } from "./chat-stream.js";
import { idField, jsonValue, labelField, messageIdField, metadataField, textField } from "./fields.js";
import type { HttpEnv } from "./http-env.js";
import { requireAccept } from "./negotiate.js";
import { answerSchema } from "./resources.js";
import { type ApiApp, answer, answersAs, body, createRoute, newApi } from "./routes.js";
import type { OpenStreams } from "./streams.js";

const MAX_MESSAGE_CHARS = 8_000;
const MAX_PAGE_CONTEXT_BYTES = 16 * 1024;

/** What the user is looking at, as text. */
function pageText(value: string | Record<string, unknown>): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

const chatBody = z
  .object({
    message: textField(MAX_MESSAGE_CHARS),
    session_id: idField.optional(),
    page_context: z
      .union([z.string(), z.record(z.string(), jsonValue)])
      .refine((value) => Buffer.byteLength(pageText(value)) <= MAX_PAGE_CONTEXT_BYTES, "more than 16 KiB")
      .optional()
      .openapi({ description: "What the user is looking at: text or an object, at most 16 KiB." }),
    stream: z.boolean().optional(),
    metadata: metadataField.optional(),
    channel: labelField(64).optional(),
    edit_of: messageIdField.optional(),
  })
  .openapi("ChatRequest");

/** Printable ASCII, 1 to 255 characters. */
export const idempotencyHeader = z.object({
  "Idempotency-Key": z
    .string()
    .regex(/^[\x20-\x7e]{1,255}$/, "1 to 255 printable ASCII characters")
    .optional(),
});

const headers = idempotencyHeader.extend({
  "X-Timezone": z.string().optional().openapi({ description: "IANA name.", example: "Europe/Rome" }),
});

const route = createRoute({
  method: "post",
  path: "/v1/chat",
  tags: ["Chat"],
  summary: "One turn of a conversation",
  request: { headers, body: body(chatBody) },
  responses: answersAs(
    {
      "application/json": answerSchema,
      "text/event-stream": z
        .string()
        .openapi({ description: "With `stream: true`: events session, memory, step, token, message or error." }),
    },
    "The answer. `X-Memory-Status` tells how long-term memory did.",
  ),
});

function requestFrom(c: Context<HttpEnv>, input: z.output<typeof chatBody>, key: string | undefined): ChatRequest {
  const timeZone = c.get("timeZone");
  const { timeZone: homeTimeZone } = c.get("identity");
  return {
    owner: c.get("owner"),
    message: input.message,
    ...(input.session_id === undefined ? {} : { sessionId: input.session_id }),
    ...(input.page_context === undefined ? {} : { pageContext: pageText(input.page_context) }),
    ...(input.metadata === undefined ? {} : { metadata: input.metadata as JsonObject }),
    ...(input.channel === undefined ? {} : { channel: input.channel }),
    ...(input.edit_of === undefined ? {} : { editOf: input.edit_of }),
    ...(key === undefined ? {} : { idempotency: { key, requestHash: requestHash(c.get("body")) } }),
    ...(timeZone === undefined ? {} : { timeZone }),
    ...(homeTimeZone === undefined ? {} : { homeTimeZone }),
  };
}

export function chatRoutes(chat: Chat, streams: OpenStreams, limits: StreamLimits): ApiApp {
  const api = newApi();
  api.openapi(route, async (c) => {
    const input = c.req.valid("json");
    const request = requestFrom(c, input, c.req.valid("header")["Idempotency-Key"]);
    if (input.stream) {
      requireAccept(c, "text/event-stream");
      return streamTurn(c, chat, request, { leave: streams.enter(request.owner), limits });
    }
    requireAccept(c, "application/json");
    const given = await chat.chat(request, { signal: c.req.raw.signal });
    c.header("X-Memory-Status", given.memory.status);
    return answer(c, answerSchema, given);
  });
  return api;
}
