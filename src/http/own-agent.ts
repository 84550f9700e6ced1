import { z } from "@hono/zod-openapi";
import type { GivenMessage, GivenStep } from "../domain/given-messages.js";
import type { Element, JsonValue } from "../domain/session.js";
import { present } from "../platform/present.js";
import { CONTEXT_PARTS, type OwnAgent } from "../ports/own-agent.js";
import { addedMessagesSchema, contextSchema, elementSchema } from "../ports/resources.js";
import { idempotencyHeader, keyed } from "./chat.js";
import { fieldsOf, idField, idParam, jsonValue, labelField, messageIdField, textField, timeField } from "./fields.js";
import { OF_A_KEY } from "./problem.js";
import { type ApiApp, answer, answers, body, newApi, routesOf } from "./routes.js";

const MAX_MESSAGES = 100;
/** As a message of a chat: it is read for memories. */
const MAX_USER_CHARS = 8_000;
const MAX_CHARS = 64_000;
const MAX_STEPS = 50;
const route = routesOf("Own agent");

const stepField = fieldsOf({
  name: labelField(128),
  input: jsonValue.optional(),
  output: jsonValue.optional(),
  error: z.string().max(2_000).optional(),
  duration_ms: z.number().min(0).optional(),
}).openapi("GivenStep");
const elementField = fieldsOf({ ...elementSchema.shape, display: elementSchema.shape.display.default("side") }).openapi("GivenElement");

const messageField = fieldsOf({
  role: z.enum(["user", "assistant", "tool", "system"]),
  content: z
    .string()
    .max(MAX_CHARS)
    .openapi({ description: `Of a user 1 to ${MAX_USER_CHARS} characters, not blank; of others at most ${MAX_CHARS}.` }),
  created_at: timeField.optional().openapi({ description: "Default: the present; so is a time that has not come yet." }),
  name: labelField(128).optional().openapi({ description: "Who spoke; of a tool, its name." }),
  message_id: messageIdField.optional().openapi({ description: "Your own id: history gives it back as `message_id`." }),
  steps: z.array(stepField).max(MAX_STEPS).optional().openapi({ description: "Tool calls before it was said." }),
  elements: z.array(elementField).max(MAX_STEPS).optional(),
})
  .superRefine(({ role, content }, issue) => {
    const said = role === "user" ? textField(MAX_USER_CHARS).safeParse(content) : null;
    for (const { message } of said?.error?.issues ?? []) issue.addIssue({ code: "custom", path: ["content"], message });
  })
  .openapi("GivenMessage");

export const messagesBody = fieldsOf({
  messages: z.array(messageField).min(1).max(MAX_MESSAGES),
  remember: z.boolean().optional().openapi({ description: "False keeps the messages out of long-term memory and history. Default true." }),
}).openapi("GivenMessages");

export const contextBody = fieldsOf({
  query: textField(MAX_USER_CHARS).optional().openapi({ description: "Default: the session's newest user message." }),
  session_id: idField.optional(),
  max_tokens: z.number().int().min(100).max(100_000).optional().openapi({ default: 2_000 }),
  include: z
    .array(z.enum(CONTEXT_PARTS))
    .max(CONTEXT_PARTS.length)
    .optional()
    .openapi({ description: "Default: all. What must hold is told whatever is left out." }),
  rounds: z.number().int().min(0).max(100).optional().openapi({ description: "Of the window, at most. Default SHORT_TERM_ROUNDS." }),
}).openapi("ContextRequest");

const routes = {
  messages: route("post", "/v1/sessions/{id}/messages", "addMessages", {
    summary: "Keep what was said in a conversation that your own agent leads; the user's messages form memories",
    request: { params: idParam, headers: idempotencyHeader, body: body(messagesBody) },
    responses: answers(addedMessagesSchema, "They are kept; memories come from them off the reply path.", 202, ["Idempotency-Replayed"]),
    fails: [...OF_A_KEY, "SESSION_NOT_ACTIVE", "RECORD_TOO_LARGE"],
  }),
  context: route("post", "/v1/context", "getContext", {
    summary: "What is known of the user, as a block for your own agent's prompt",
    request: { body: body(contextBody) },
    responses: answers(contextSchema, "The block, and what it was made of.", 200, ["X-Memory-Status"]),
    fails: ["INVALID_SESSION_ID", "SESSION_NOT_FOUND"],
  }),
};

/** Messages of a body that its schema has checked. */
export function givenMessages({ messages }: Pick<z.output<typeof messagesBody>, "messages">): GivenMessage[] {
  return messages.map(given);
}

function given({ steps, elements, ...message }: z.output<typeof messageField>): GivenMessage {
  return {
    role: message.role,
    content: message.content,
    ...present({ created_at: message.created_at, name: message.name, message_id: message.message_id }),
    ...(steps !== undefined && { steps: steps.map((step) => present(step) as GivenStep & { readonly input?: JsonValue }) }),
    ...(elements !== undefined && { elements: elements as Element[] }),
  };
}

export function ownAgentRoutes(ownAgent: OwnAgent): ApiApp {
  const api = newApi();
  api.openapi(routes.messages, async (c) => {
    const { messages, remember } = c.req.valid("json");
    const { id: sessionId } = c.req.valid("param");
    const key = c.req.valid("header")["Idempotency-Key"];
    const added = await ownAgent.addMessages(
      {
        owner: c.get("owner"),
        sessionId,
        messages: givenMessages({ messages }),
        ...present({ remember, timeZone: c.get("timeZone") }),
        // The session is a part of what was asked.
        ...present({ idempotency: keyed(c, key, { sessionId, body: c.get("body") }) }),
      },
      { signal: c.req.raw.signal },
    );
    return answer(c, addedMessagesSchema, added, 202);
  });
  api.openapi(routes.context, async (c) => {
    const { session_id: sessionId, max_tokens: maxTokens, ...rest } = c.req.valid("json");
    const owner = c.get("owner");
    const request = { owner, ...present({ ...rest, sessionId, maxTokens, timeZone: c.get("timeZone") }) };
    const context = await ownAgent.context(request, { signal: c.req.raw.signal });
    c.header("X-Memory-Status", context.memory.status);
    return answer(c, contextSchema, context);
  });
  return api;
}
