import { z } from "@hono/zod-openapi";
import { invalidField } from "../../platform/errors.js";
import { type ApiApp, body, newApi, routesOf } from "../routes.js";
import { completionOf, completionSchema, completionStream } from "./completion.js";
import { type Content, contentField, outputOf } from "./content.js";
import { askedIn, namedSession } from "./conversation.js";
import type { Entry } from "./entries.js";
import { toolChoiceField, toolsField, toolsOf } from "./tools.js";
import { answerTurn, OF_A_CLIENTS_TURN, type OpenAiParts, openAiAnswers, openAiErrors, turnHeaders } from "./turn-route.js";

export const COMPLETIONS_PATH = "/v1/chat/completions";
const MAX_MESSAGES = 10_000;

const messageField = z.looseObject({
  role: z.enum(["system", "developer", "user", "assistant", "tool", "function"]),
  content: contentField,
  tool_call_id: z.string().optional(),
  tool_calls: z.array(z.looseObject({ type: z.string().optional() })).nullish(),
});

const callField = z.object({ id: z.string(), function: z.object({ name: z.string(), arguments: z.string() }) });

const completionsBody = z
  .looseObject({
    model: z.string().nullish().openapi({ description: "Passed over: whoever runs this server has chosen the model." }),
    messages: z
      .array(messageField)
      .min(1)
      .max(MAX_MESSAGES)
      .openapi({
        description:
          "The last user message is the turn, of 1 to 8,000 characters; `tool` messages behind it go on with the turn that called. " +
          "System messages are this turn's prompt, in the place of the server's own. What comes before is taken in as the session's " +
          "history where no session has it.",
        example: [{ role: "user", content: "A table for two, please." }],
      }),
    stream: z.boolean().nullish(),
    stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
    n: z.literal(1, { error: "one answer is all there is" }).nullish(),
    tools: toolsField,
    tool_choice: toolChoiceField,
    metadata: z.looseObject({ session_id: z.string().optional() }).nullish().openapi({ example: {} }),
  })
  .openapi("ChatCompletionRequest", { description: "As OpenAI's; other fields of it are passed over." });

const route = routesOf("OpenAI")("post", COMPLETIONS_PATH, "createChatCompletion", {
  summary: "One turn, as OpenAI's Chat Completions",
  request: { headers: turnHeaders, body: body(completionsBody) },
  responses: openAiAnswers(completionSchema, "The answer. With `stream: true`: chunks of it, and `[DONE]`."),
  fails: OF_A_CLIENTS_TURN,
  errorContent: openAiErrors,
});

export function completionRoutes(parts: OpenAiParts): ApiApp {
  const api = newApi();
  api.openapi(route, async (c) => {
    const { messages, metadata, tools, tool_choice: choice, stream, stream_options: options } = c.req.valid("json");
    const asked = askedIn(messages.flatMap(entriesOf), { sessionId: namedSession(c, metadata?.session_id), ...toolsOf(tools, choice) });
    const modelName = parts.application.modelOf(c.get("owner")).name;
    return answerTurn(c, parts, asked, {
      form: stream === true ? completionStream(modelName, { usage: options?.include_usage === true }) : null,
      whole: (answer) => completionOf(answer, modelName),
      namedAt: metadata?.session_id === undefined ? undefined : "/metadata/session_id",
    });
  });
  return api;
}

function entriesOf(message: z.output<typeof messageField>, at: number): Entry[] {
  const calls = message.role === "assistant" ? (message.tool_calls ?? []) : [];
  return [entryOf(message, at), ...calls.flatMap((call, place) => callsOf(call, `/messages/${at}/tool_calls/${place}`))];
}

/** None for what is no call of a function. */
function callsOf(call: unknown, pointer: string): Entry[] {
  const { data } = callField.safeParse(call);
  return data === undefined ? [] : [{ kind: "call", callId: data.id, ...data.function, pointer }];
}

function entryOf(message: z.output<typeof messageField>, at: number): Entry {
  const { role, tool_call_id: callId } = message;
  const content = message.content as Content;
  const pointer = `/messages/${at}/content`;
  switch (role) {
    case "system":
    case "developer":
      return { kind: "prompt", content, pointer };
    case "user":
    case "assistant":
      return { kind: role, content, pointer };
    case "tool":
      if (callId === undefined) throw invalidField(`/messages/${at}/tool_call_id`, "the id of the call that this is the result of");
      return { kind: "result", result: { callId, output: outputOf(content) }, pointer };
    default:
      return { kind: "other", pointer };
  }
}
