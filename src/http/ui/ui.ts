import { z } from "@hono/zod-openapi";
import type { Owner } from "../../domain/owner.js";
import type { Element, ShownPart } from "../../domain/session.js";
import { AppError, invalidField } from "../../platform/errors.js";
import type { Application, ChatEvent, ChatRequest } from "../../ports/application.js";
import type { ChatAnswer } from "../../ports/resources.js";
import { chatBody, chatRequestOf, OF_A_TURN } from "../chat.js";
import { type StreamForm, type Streaming, streamTurn } from "../chat-stream.js";
import { externalIdField, fieldsOf } from "../fields.js";
import { type Content, saidIn, textOf } from "../openai/content.js";
import { type ApiApp, answersAs, body, newApi, requireAccept, routesOf } from "../routes.js";
import type { EventStream } from "../sse.js";

export const UI_CHAT_PATH = "/v1/ui/chat";
const MAX_MESSAGES = 10_000;

const messageField = z.looseObject({
  id: z.string().optional(),
  role: z.enum(["system", "user", "assistant"]),
  parts: z.array(z.looseObject({ type: z.string() })),
});
type UiMessage = z.output<typeof messageField>;

const uiChatBody = fieldsOf({
  id: externalIdField,
  messages: z
    .array(messageField)
    .min(1)
    .max(MAX_MESSAGES)
    .openapi({
      description: "The last one is said, of 1 to 8,000 characters; what comes before is not read: the session knows it.",
      example: [{ id: "m1", role: "user", parts: [{ type: "text", text: "A table for two, please." }] }],
    }),
  trigger: z.enum(["submit-message", "regenerate-message"]).optional(),
  messageId: z
    .string()
    .nullish()
    .openapi({ description: "What is said again, where it is the last one: the turn is taken back and made anew." }),
  page_context: chatBody.shape.page_context,
  metadata: chatBody.shape.metadata,
  consent: chatBody.shape.consent,
  incognito: chatBody.shape.incognito,
}).openapi("UiChatRequest");
type UiChat = z.output<typeof uiChatBody>;

const route = routesOf("Chat")("post", UI_CHAT_PATH, "streamUiChat", {
  summary: "One turn for the AI SDK's useChat",
  request: { headers: z.object({ "X-Timezone": z.string().optional() }), body: body(uiChatBody) },
  responses: answersAs(
    { "text/event-stream": z.string() },
    "The AI SDK's UI message stream, with a part `data-memory`, and parts for what is shown.",
    ["X-Session-Id", "X-Memory-Status", "X-Vercel-AI-UI-Message-Stream"],
  ),
  fails: [...OF_A_TURN, "MESSAGE_NOT_FOUND"],
});

type Asked = Pick<Application, "chat" | "sessions" | "identities">;

/** The chat's id is the session's external id; the body is what `DefaultChatTransport` sends. */
export function uiRoutes({ chat, sessions, identities }: Asked, { streams, limits }: Streaming): ApiApp {
  const api = newApi();
  api.openapi(route, async (c) => {
    const given = c.req.valid("json");
    const owner = c.get("owner");
    const { id: external_id, messages: _, trigger: __, messageId: ___, ...more } = given;
    const { message, images } = lastSaid(given.messages);
    const edited = await editedMessage({ sessions, identities }, owner, given, message);
    const caller = { owner, timeZone: c.get("timeZone"), homeTimeZone: c.get("identity").timeZone, idempotency: undefined };
    const said = await chatRequestOf({ ...more, message, external_id, channel: "ui", ...(edited !== null && { edit_of: edited }) }, caller);
    const request: ChatRequest = { ...said, ...(images.length > 0 && { images }) };
    requireAccept(c, "text/event-stream");
    return streamTurn(c, (options) => chat.chat(request, options), { leave: streams.enter(owner), limits, form: uiMessageStream() });
  });
  return api;
}

/** @throws INVALID_REQUEST */
function lastSaid(messages: readonly UiMessage[]): ReturnType<typeof saidIn> {
  const at = messages.length - 1;
  const last = messages[at];
  if (last?.role !== "user") throw invalidField(`/messages/${at}/role`, "the last message must be the user's");
  return saidIn(contentOf(last), `/messages/${at}/parts`);
}

/** Parts that are neither text nor a file are the client's own. */
function contentOf({ parts }: UiMessage): Content {
  return parts
    .filter(({ type }) => type === "text" || type === "file")
    .map((part) => {
      const isImage = part.type === "file" && typeof part.mediaType === "string" && part.mediaType.startsWith("image/");
      return isImage ? { type: "image_url", image_url: part.url } : part;
    });
}

/**
 * The last message of the session, where the client has it said again: as it was (regenerate), or edited. Null where it says another one.
 * @throws EDIT_NOT_LAST for any message before
 */
async function editedMessage(
  { sessions, identities }: Pick<Asked, "sessions" | "identities">,
  named: Owner,
  { id, messages, trigger, messageId }: UiChat,
  message: string,
): Promise<string | null> {
  const again = trigger === "regenerate-message";
  const edits = !again && messageId !== undefined && messageId !== null && messages.at(-1)?.id === messageId;
  if (!again && !edits) return null;
  const owner = await identities.resolve(named);
  const { session, created } = await sessions.findOrCreate(owner, id, {});
  if (created || session.message_count === 0) return null;
  const { data } = await sessions.messages(owner, session.id, { limit: 10, order: "desc" });
  const [last, before] = data.filter(({ role }) => role === "user");
  if (last === undefined) return null;
  const previous = messages.filter(({ role }) => role === "user").at(-2);
  const isLast = again ? last.content === message : before?.content === (previous && textOf(contentOf(previous)));
  if (!isLast) throw new AppError("EDIT_NOT_LAST");
  return last.id;
}

/** Reasons as the AI SDK names them. */
const FINISH = { stop: "stop", length: "length", content_filter: "content-filter" } as const;

/**
 * The AI SDK's UI message stream, version 1: text, tool parts and data parts (`data-cards`, `data-quote`, `data-ticket`, `data-warning`,
 * each with its elements, and `data-question`) as they come; `data-memory` with what memory gave, `data-elements` with all elements, and
 * ids in the message's metadata. What a model takes back can't be taken back here.
 */
function uiMessageStream(): StreamForm {
  const send = (stream: EventStream, chunk: object) => stream.sendData(JSON.stringify(chunk));
  let texts = 0;
  let isOpen = false;

  const say = async (stream: EventStream, delta: string) => {
    if (!isOpen) {
      isOpen = true;
      texts += 1;
      await send(stream, { type: "text-start", id: `text-${texts}` });
    }
    await send(stream, { type: "text-delta", id: `text-${texts}`, delta });
  };
  const endText = async (stream: EventStream) => {
    if (isOpen) await send(stream, { type: "text-end", id: `text-${texts}` });
    isOpen = false;
  };
  const tell = async (stream: EventStream, { id: toolCallId, name, input, output, error }: ChatAnswer["steps"][number]) => {
    await endText(stream);
    const of = { toolCallId, dynamic: true, providerExecuted: true };
    await send(stream, { type: "tool-input-available", ...of, toolName: name, input });
    if (error === null) await send(stream, { type: "tool-output-available", ...of, output });
    else await send(stream, { type: "tool-output-error", ...of, errorText: error });
  };
  const show = async (stream: EventStream, { type }: ShownPart, index: number, elements: readonly Element[]) => {
    await endText(stream);
    texts += 1;
    await send(stream, { type: `data-${type}`, id: `part-${index}`, data: { elements } });
  };
  /** One that was given before comes whole. */
  const tellAll = async (stream: EventStream, { parts, elements }: ChatAnswer) => {
    for (const [index, part] of parts.entries()) {
      if (part.type === "text") await say(stream, part.text);
      else if (part.type !== "question")
        await show(
          stream,
          part,
          index,
          elements.filter(({ id }) => part.elements.includes(id)),
        );
    }
  };
  const remember = (stream: EventStream, data: ChatAnswer["memory"]) => send(stream, { type: "data-memory", id: "memory", data });

  const onEvent = async (stream: EventStream, event: ChatEvent) => {
    if (event.type === "token") return say(stream, event.delta);
    if (event.type === "step") return tell(stream, event.step);
    if (event.type === "part") return show(stream, event.part, event.index, event.elements);
    if (event.type === "memory") return remember(stream, event.memory);
    if (event.type !== "session") return;
    const { session_id, turn, user_message_id } = event;
    await send(stream, { type: "start", messageMetadata: { session_id, turn, user_message_id } });
    await send(stream, { type: "start-step" });
  };

  return {
    headers: (sessionId) => ({ "X-Session-Id": sessionId, "X-Vercel-AI-UI-Message-Stream": "v1" }),
    onEvent,
    async onAnswer(stream, answer) {
      const { message, memory, elements, parts } = answer;
      if (texts === 0) await tellAll(stream, answer);
      await endText(stream);
      for (const part of parts) {
        const data = part.type === "question" && memory.to_confirm.find(({ id }) => id === part.memory_id);
        if (data) await send(stream, { type: "data-question", id: `question-${data.id}`, data });
      }
      await remember(stream, memory);
      if (elements.length > 0) await send(stream, { type: "data-elements", id: "elements", data: elements });
      await send(stream, { type: "finish-step" });
      const { finish = "stop", model } = message.metadata ?? {};
      await send(stream, { type: "finish", finishReason: FINISH[finish], messageMetadata: { message_id: message.id, model } });
      await stream.sendData("[DONE]");
    },
    async onError(stream, error) {
      await endText(stream);
      await send(stream, { type: "error", errorText: `${error.title}. ${error.hint}` });
      await stream.sendData("[DONE]");
    },
  };
}
