import { z } from "zod";
import { MEMORY_STATUSES } from "../domain/session.js";
import { chatBody, fieldsOf, present } from "../http/http.js";
import { type McpTool, mcpTool } from "./tool.js";

/** Told as the channel of a turn that came this way. */
const CHANNEL = "mcp";

const { message, session_id, incognito } = chatBody.shape;

export const chatTool: McpTool = mcpTool({
  name: "chat",
  title: "Chat",
  description:
    "One turn with the user's assistant, which knows what was said before and what the user always likes or needs, and remembers what " +
    "they say now. Give the user's own words as `message`. Without `session_id` a new conversation begins; the result names it.",
  input: fieldsOf({
    message: message.meta({ minLength: 1, maxLength: 8_000, description: "What the user says, in their own words." }),
    session_id: session_id.meta({ description: "The conversation to go on with, from an earlier result. Default: a new one." }),
    page_context: z
      .string()
      .refine((text) => Buffer.byteLength(text) <= 16 * 1024, "more than 16 KiB")
      .optional()
      .meta({ description: "What the user is looking at, as text of at most 16 KiB. Never becomes a memory." }),
    incognito: incognito.meta({ description: "True: nothing of the turn is remembered, and no memory is used. Default: false." }),
  }),
  output: z.object({
    session_id: z.string().meta({ description: "For the next turn of this conversation." }),
    turn: z.number().int(),
    message: z.object({ id: z.string(), content: z.string(), created_at: z.string() }),
    memory: z.object({
      status: z.enum(MEMORY_STATUSES),
      write_back: z.enum(["pending", "disabled"]),
      to_confirm: z
        .array(
          z.object({
            id: z.string(),
            text: z.string(),
            category: z.string(),
            strength: z.enum(["hard", "soft"]),
            subject: z.string(),
            reason: z.string(),
          }),
        )
        .meta({ description: "What waits for the user's yes or no, which they say in the next turn." }),
      recalled: z.array(z.object({ id: z.string(), text: z.string(), category: z.string(), strength: z.enum(["hard", "soft"]) })),
      used: z.array(z.string()).meta({ description: "Ids of the memories that shaped the answer." }),
    }),
  }),
  // The product's own tools may book and cancel.
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  run: (user, { message, session_id, page_context, incognito }, { signal, timeZone }) =>
    user.chat(message, {
      ...present({ sessionId: session_id, pageContext: page_context, incognito, timeZone }),
      channel: CHANNEL,
      signal,
    }),
  texts: ({ message, session_id }) => [message.content, `To go on with this conversation: session_id ${session_id}`],
});
