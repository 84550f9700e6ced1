import { setImmediate as nextTick } from "node:timers/promises";
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { fromBase64, type GivenImage, MAX_IMAGE_URL_CHARS, MAX_IMAGES } from "../domain/image.js";
import type { JsonObject } from "../domain/session.js";
import { AppError, type ErrorCode } from "../platform/errors.js";
import { present } from "../platform/present.js";
import type { Chat, ChatRequest } from "../ports/application.js";
import type { RequestKey } from "../ports/request-key.js";
import { answerSchema } from "../ports/resources.js";
import { requestHash } from "./body.js";
import { chatStreamSchema, noteKept, type Streaming, streamTurn } from "./chat-stream.js";
import { externalIdField, fieldsOf, idField, jsonValue, labelField, messageIdField, metadataField, textField } from "./fields.js";
import type { HttpEnv } from "./http-env.js";
import { OF_A_KEY } from "./problem.js";
import { type ApiApp, answer, answersAs, body, newApi, requireAccept, routesOf } from "./routes.js";

export const CHAT_PATH = "/v1/chat";
const MAX_MESSAGE_CHARS = 8_000;
const MAX_PAGE_CONTEXT_BYTES = 16 * 1024;

/** What the user is looking at, as text. */
function pageText(value: string | Record<string, unknown>): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

const imageField = z
  .union(
    [
      z
        .strictObject({
          url: z.string().openapi({
            description: `An https address of at most ${MAX_IMAGE_URL_CHARS} characters, which the provider fetches; or a data URL.`,
          }),
        })
        .openapi("ImageByAddress"),
      z
        .strictObject({
          data: z.string().openapi({ description: "Base64 of a PNG, JPEG, GIF or WebP." }),
          media_type: z.string().max(100).optional().openapi({ description: "Not needed: what the bytes say counts." }),
        })
        .openapi("ImageByData"),
    ],
    { error: "an object with `url`, or with `data` in base64" },
  )
  .openapi("Image");

/** @throws INVALID_IMAGE */
async function imagesOf(images: readonly z.output<typeof imageField>[]): Promise<GivenImage[]> {
  const given: GivenImage[] = [];
  for (const [place, image] of images.entries()) {
    // Decoding takes a while: others go in between.
    await nextTick();
    const data = "url" in image ? null : fromBase64(image.data);
    if ("url" in image) given.push(image);
    else if (data !== null) given.push({ data });
    else throw new AppError("INVALID_IMAGE", { errors: [{ pointer: `/images/${place}/data`, detail: "is no base64" }] });
  }
  return given;
}

export const chatBody = fieldsOf({
  message: textField(MAX_MESSAGE_CHARS),
  session_id: idField.optional(),
  external_id: externalIdField.optional(),
  page_context: z
    .union([z.string(), z.record(z.string(), jsonValue)])
    .refine((value) => Buffer.byteLength(pageText(value)) <= MAX_PAGE_CONTEXT_BYTES, "more than 16 KiB")
    .optional()
    .openapi({ description: "What the user is looking at: text or an object, at most 16 KiB." }),
  images: z
    .array(imageField)
    .max(MAX_IMAGES)
    .optional()
    .openapi({ description: "For a model that sees: at most 4, 5 MiB each. Kept with the message, never a source of memories." }),
  stream: z.boolean().optional(),
  metadata: metadataField.optional(),
  channel: labelField(64).optional(),
  edit_of: messageIdField.optional().openapi({
    description:
      "The last user message, which this one replaces: what it alone gave to memory is taken back. What it had forgotten stays so.",
  }),
  consent: labelField(64).optional().openapi({
    description:
      "`token` of a tool's earlier answer, sent when the user presses its button: their consent to what was shown, without words.",
  }),
  incognito: z.boolean().optional().openapi({
    description: "True: nothing of the turn goes to memory or history, and none of them is used. On a new session: of the whole session.",
  }),
})
  .refine(({ session_id, external_id }) => session_id === undefined || external_id === undefined, {
    path: ["external_id"],
    message: "names a session as `session_id` does: send one of the two",
  })
  .openapi("ChatRequest", { not: { required: ["external_id", "session_id"] } });

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

/** What may refuse a turn, by whichever door it comes in. */
export const OF_A_TURN: readonly ErrorCode[] = [
  "INVALID_SESSION_ID",
  "INVALID_IMAGE",
  "IMAGES_NOT_SUPPORTED",
  "SESSION_NOT_FOUND",
  "SESSION_NOT_ACTIVE",
  "SESSION_BUSY",
  "SESSION_CHANGED",
  "EDIT_NOT_LAST",
  "FENCED",
  "RECORD_TOO_LARGE",
  "CONTEXT_TOO_LARGE",
  "MODEL_CONTENT_FILTER",
  "COST_LIMIT_REACHED",
  "TOO_MANY_STREAMS",
  "MODEL_UNAVAILABLE",
  "MODEL_REFUSED_REQUEST",
  "MODEL_QUOTA",
  "MODEL_TIMEOUT",
];

const route = routesOf("Chat")("post", CHAT_PATH, "chat", {
  summary: "One turn of a conversation",
  request: { headers, body: body(chatBody) },
  responses: answersAs({ "application/json": answerSchema, "text/event-stream": chatStreamSchema }, "The answer.", [
    "X-Memory-Status",
    "Idempotency-Replayed",
  ]),
  fails: [...OF_A_KEY, ...OF_A_TURN],
});

/** Who asks, and what does not stand in the body. */
export interface ChatCaller extends Pick<ChatRequest, "owner"> {
  readonly timeZone: string | undefined;
  readonly homeTimeZone: string | undefined;
  readonly idempotency: RequestKey | undefined;
}

/** The key of a request that has one. `asked`: all that makes it this request. */
export function keyed(c: Context<HttpEnv>, key: string | undefined, asked: unknown): RequestKey | undefined {
  const onReplay = () => c.header("Idempotency-Replayed", "true");
  return key === undefined ? undefined : { key, requestHash: requestHash(asked), onReplay };
}

/** @throws INVALID_IMAGE */
export async function chatRequestOf(
  input: z.output<typeof chatBody>,
  { owner, timeZone, homeTimeZone, idempotency }: ChatCaller,
): Promise<ChatRequest> {
  const { message, session_id: sessionId, external_id: externalId, page_context: page, edit_of: editOf, ...given } = input;
  const { images, metadata, channel, consent, incognito } = given;
  return {
    owner,
    message,
    ...present({ sessionId, externalId, editOf, channel, consent, incognito, timeZone, homeTimeZone, idempotency }),
    ...(page !== undefined && { pageContext: pageText(page) }),
    ...(images !== undefined && { images: await imagesOf(images) }),
    ...(metadata !== undefined && { metadata: metadata as JsonObject }),
  };
}

function callerOf(c: Context<HttpEnv>, key: string | undefined): ChatCaller {
  return {
    owner: c.get("owner"),
    timeZone: c.get("timeZone"),
    homeTimeZone: c.get("identity").timeZone,
    idempotency: keyed(c, key, c.get("body")),
  };
}

export function chatRoutes(chat: Chat, { streams, limits }: Streaming): ApiApp {
  const api = newApi();
  api.openapi(route, async (c) => {
    const input = c.req.valid("json");
    const request = await chatRequestOf(input, callerOf(c, c.req.valid("header")["Idempotency-Key"]));
    if (input.stream) {
      requireAccept(c, "text/event-stream");
      return streamTurn(c, (options) => chat.chat(request, options), { leave: streams.enter(request.owner), limits });
    }
    requireAccept(c, "application/json");
    const given = await chat.chat(request, { signal: c.req.raw.signal, onEvent: noteKept(c) });
    c.header("X-Memory-Status", given.memory.status);
    return answer(c, answerSchema, given);
  });
  return api;
}
