import { z } from "@hono/zod-openapi";
import { invalidField } from "../../platform/errors.js";
import { newId } from "../../platform/ids.js";
import type { ChatAnswer } from "../../ports/resources.js";
import type { StreamForm } from "../chat-stream.js";
import { type ApiApp, body, newApi, routesOf } from "../routes.js";
import type { EventStream } from "../sse.js";
import { type Content, contentField, outputOf, toolChoiceField, toolsField, toolsOf } from "./content.js";
import { askedIn, type Entry, namedSession, sessionNotFound } from "./conversation.js";
import { openAiErrorOf } from "./errors.js";
import {
  begunResponse,
  callItem,
  conversationIdOf,
  type Echoed,
  endedResponse,
  messageItem,
  messageItemId,
  type ResponseBody,
  responseOf,
  responseSchema,
  sessionOf,
  textPart,
} from "./response.js";
import { answerTurn, OF_A_CLIENTS_TURN, type OpenAiParts, openAiAnswers, openAiErrors, turnHeaders } from "./turn-route.js";

export const RESPONSES_PATH = "/v1/responses";
const MAX_ITEMS = 10_000;

const itemField = z.looseObject({
  type: z.string().optional(),
  role: z.string().optional(),
  content: contentField,
  call_id: z.string().optional(),
  output: contentField,
  name: z.string().nullish(),
  arguments: z.string().nullish(),
});

const responsesBody = z
  .looseObject({
    model: z.string().nullish().openapi({ description: "Passed over: whoever runs this server has chosen the model." }),
    input: z.union([z.string(), z.array(itemField).min(1).max(MAX_ITEMS)], { error: "text, or a list of items" }).openapi({
      description:
        "The last user message is the turn, of 1 to 8,000 characters; `function_call_output` items behind it go on with the turn that " +
        "called. What comes before is taken in as the session's history where no session has it.",
      example: "A table for two, please.",
    }),
    instructions: z.string().nullish().openapi({ description: "This turn's prompt, in the place of the server's own. Never a memory." }),
    previous_response_id: z.string().nullish().openapi({ description: "Names the session. It goes on at its end." }),
    conversation: z
      .union([z.string(), z.looseObject({ id: z.string() })])
      .nullish()
      .openapi({ description: "A session, by its id or as a response names it." }),
    stream: z.boolean().nullish(),
    tools: toolsField,
    tool_choice: toolChoiceField,
    metadata: z.looseObject({ session_id: z.string().optional() }).nullish().openapi({ example: {} }),
  })
  .openapi("ResponseRequest", { description: "As OpenAI's; other fields of it are passed over." });

const route = routesOf("OpenAI")("post", RESPONSES_PATH, "createResponse", {
  summary: "One turn, as OpenAI's Responses",
  request: { headers: turnHeaders, body: body(responsesBody) },
  responses: openAiAnswers(responseSchema, "The answer. With `stream: true`: its typed events."),
  fails: OF_A_CLIENTS_TURN,
  errorContent: openAiErrors,
});

export function responseRoutes(parts: OpenAiParts): ApiApp {
  const api = newApi();
  api.openapi(route, async (c) => {
    const given = c.req.valid("json");
    const { metadata, stream, previous_response_id: previous, conversation } = given;
    if (previous && conversation) throw invalidField("/conversation", "stands for `previous_response_id`: send one of the two");
    const named = typeof conversation === "object" ? conversation?.id : conversation;
    const place = previous ? "/previous_response_id" : typeof conversation === "object" ? "/conversation/id" : "/conversation";
    const id = previous || named;
    const namedAt = id ? place : metadata?.session_id === undefined ? undefined : "/metadata/session_id";
    const sessionId = namedSession(c, metadata?.session_id, id ? sessionFor(id, place) : undefined);
    const asked = askedIn(entriesOf(given), { sessionId, ...toolsOf(given.tools, given.tool_choice) });
    const echoed: Echoed = {
      instructions: given.instructions ?? null,
      previousResponseId: previous ?? null,
      metadata: metadata ?? {},
      conversation: named === undefined || named === null || sessionId === undefined ? null : conversationIdOf(sessionId),
    };
    const modelName = parts.application.modelOf(c.get("owner")).name;
    return answerTurn(c, parts, asked, {
      form: stream === true ? responseStream(modelName, echoed) : null,
      whole: (answer) => responseOf(answer, modelName, echoed),
      namedAt,
    });
  });
  return api;
}

/** @throws SESSION_NOT_FOUND for what can't be an id of ours */
function sessionFor(id: string, pointer: string): string {
  const sessionId = sessionOf(id);
  if (sessionId === null) throw sessionNotFound(pointer);
  return sessionId;
}

function entriesOf({ instructions, input }: z.output<typeof responsesBody>): Entry[] {
  return [
    { kind: "prompt", content: instructions, pointer: "/instructions" },
    ...(typeof input === "string" ? [{ kind: "user", content: input, pointer: "/input" } as const] : input.map(entryOf)),
  ];
}

function entryOf(item: z.output<typeof itemField>, at: number): Entry {
  const { type = "message", role, call_id: callId } = item;
  const pointer = `/input/${at}/content`;
  if (type === "function_call_output") {
    if (callId === undefined) throw invalidField(`/input/${at}/call_id`, "the id of the call that this is the output of");
    return { kind: "result", result: { callId, output: outputOf(item.output as Content) }, pointer: `/input/${at}/output` };
  }
  if (type === "function_call" && callId !== undefined && typeof item.name === "string")
    return { kind: "call", callId, name: item.name, arguments: item.arguments ?? "", pointer };
  const content = item.content as Content;
  if (type === "message" && (role === "user" || role === "assistant")) return { kind: role, content, pointer };
  if (type === "message" && (role === "system" || role === "developer")) return { kind: "prompt", content, pointer };
  return { kind: "other", pointer };
}

/** The typed events of Responses: numbered, each with what it is about. */
function responseStream(modelName: string, echoed: Echoed): StreamForm {
  const itemId = messageItemId(newId());
  const at = { output_index: 0, content_index: 0, item_id: itemId };
  let response: ResponseBody = begunResponse(newId(), modelName, echoed, new Date());
  let next = 0;
  let opened = false;
  const send = (stream: EventStream, type: string, more: object) => {
    const event = { type, sequence_number: next, ...more };
    next += 1;
    return stream.sendData(JSON.stringify(event), type);
  };

  const say = async (stream: EventStream, delta: string) => {
    if (!opened) {
      opened = true;
      await send(stream, "response.output_item.added", { output_index: 0, item: messageItem(itemId, null) });
      await send(stream, "response.content_part.added", { ...at, part: textPart("") });
    }
    await send(stream, "response.output_text.delta", { ...at, delta, logprobs: [] });
  };

  const endMessage = async (stream: EventStream, text: string) => {
    await send(stream, "response.output_text.done", { ...at, text, logprobs: [] });
    await send(stream, "response.content_part.done", { ...at, part: textPart(text) });
    await send(stream, "response.output_item.done", { output_index: 0, item: messageItem(itemId, text) });
  };

  const call = async (stream: EventStream, output_index: number, made: NonNullable<ChatAnswer["calls"]>[number]) => {
    const item = callItem(made);
    const place = { output_index, item_id: item.id };
    await send(stream, "response.output_item.added", { output_index, item: { ...item, status: "in_progress", arguments: "" } });
    await send(stream, "response.function_call_arguments.delta", { ...place, delta: item.arguments });
    await send(stream, "response.function_call_arguments.done", { ...place, name: item.name, arguments: item.arguments });
    await send(stream, "response.output_item.done", { output_index, item });
  };

  return {
    async onEvent(stream, event) {
      if (event.type === "token") await say(stream, event.delta);
      if (event.type !== "session") return;
      response = begunResponse(event.session_id, modelName, echoed, new Date());
      await send(stream, "response.created", { response });
      await send(stream, "response.in_progress", { response });
    },
    async onAnswer(stream, answer) {
      const { content } = answer.message;
      // One that was given before comes whole.
      if (!opened && content !== "") await say(stream, content);
      if (opened) await endMessage(stream, content);
      for (const [index, made] of (answer.calls ?? []).entries()) await call(stream, index + (opened ? 1 : 0), made);
      const ended = endedResponse(response, answer, itemId);
      await send(stream, `response.${ended.status}`, { response: ended });
    },
    async onError(stream, error) {
      const { code, message } = openAiErrorOf(error).error;
      await send(stream, "response.failed", { response: { ...response, status: "failed", error: { code, message } } });
    },
  };
}
