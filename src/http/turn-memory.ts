import { z } from "@hono/zod-openapi";
import { WAITING_REASONS } from "../domain/memory.js";
import { HELD_BACK_REASONS, MEMORY_STATUSES, RECALL_REASONS } from "../domain/session.js";

const time = z.string().openapi({ format: "date-time" });

export const recalledSchema = z
  .object({
    id: z.string(),
    text: z.string(),
    category: z.string(),
    strength: z.enum(["hard", "soft"]),
    subject: z.string().optional(),
    need: z.string().optional().openapi({ description: "One of the domain's needs, or `other`; absent for what is no need." }),
    score: z.number().nullable(),
    source: z.object({ session_id: z.string(), turn: z.number().int(), message_id: z.string() }).nullable(),
    created_at: time,
    valid_from: time.optional().openapi({ description: "Only where it lies ahead, or over a day before `created_at`." }),
    valid_until: time.optional().openapi({ description: "Only where it has an end." }),
    condition: z.string().optional().openapi({ description: "When it holds, where not always." }),
    why: z
      .enum(RECALL_REASONS)
      .optional()
      .openapi({
        description:
          "Why it was given: it must hold for the user, or for somebody who comes or may come; the occasion calls for it; it is about " +
          "somebody who comes; it is like the message; the user is known for it. Absent where nothing decides what is given.",
      }),
  })
  .openapi("RecalledMemory");

export const toConfirmSchema = z
  .object({
    id: z.string(),
    text: z.string().openapi({ description: "What a yes makes true." }),
    category: z.string(),
    strength: z.enum(["hard", "soft"]),
    subject: z.string(),
    reason: z.enum(WAITING_REASONS),
    quote: z.string(),
    change: z
      .enum(["end", "supersede", "forget"])
      .optional()
      .openapi({ description: "Set where the memory holds and a change of it waits." }),
  })
  .openapi("ToConfirm");

export const turnMemorySchema = z
  .object({
    status: z.enum(MEMORY_STATUSES),
    write_back: z.enum(["pending", "disabled"]),
    to_confirm: z.array(toConfirmSchema).openapi({ description: "What waits for the user's word: at most 5, hard ones first." }),
    recalled: z.array(recalledSchema),
    used: z.array(z.string()).openapi({
      description:
        "Ids of memories that shaped the answer: the model cited them, or a tool went by, marked, checked or found them. Empty until " +
        "there is an answer.",
    }),
    held_back: z
      .object(Object.fromEntries(HELD_BACK_REASONS.map((reason) => [reason, z.number().int().optional()])))
      .optional()
      .openapi({ description: "How many memories were not given, by reason. Absent where nothing decides what is given." }),
  })
  .openapi("TurnMemory");
