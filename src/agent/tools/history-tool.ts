import { z } from "zod";
import { only, shorterList } from "../../domain/recap.js";
import type { Element, JsonObject } from "../../domain/session.js";
import { AppError } from "../../platform/errors.js";
import { cutText, dayOf } from "../../platform/rendering.js";
import type { Tool } from "../../ports/agent.js";
import type { ConversationHistory } from "../../ports/history.js";
import type { HistoryHit } from "../../ports/resources.js";

const LIMIT = 8;
/** Of one message, in characters; the element holds all of it. */
const SHOWN_CHARS = 1_000;

/** Said where nothing more was found: it is no sign that nothing was said. */
const SHOWN_ALREADY = "Nothing beside what your messages show already: look there, and at the Refs.";

const input = z.strictObject({
  query: z.string().min(1).max(500),
  from: z.iso.date().optional().describe("YYYY-MM-DD"),
  to: z.iso.date().optional().describe("inclusive"),
  role: z.enum(["user", "assistant"]).optional(),
});

/** Finds what was said in the user's earlier conversations; each find is cited as an element "Ref #1 — 12 March". */
export function historyTool(history: Pick<ConversationHistory, "search">): Tool<z.infer<typeof input>> {
  // Numbers go on through a turn, so that [Ref #2] is one thing. Keyed by the turn's message, and gone with it.
  const cited = new WeakMap<object, number>();
  return {
    name: "search_history",
    description:
      "Searches all that was said with this user, in any conversation, for what the messages here don't answer. " +
      "Cite a find as [Ref #n].",
    parameters: input,
    // What it told stands in the answer, which cites it.
    recap: (output) => shorterList(output, "found", (found) => only(found, "ref", "said_by", "at")),
    maxCallsPerTurn: 4,
    run: async ({ query, from, to, role }, context) => {
      if (context.memory === "off")
        throw new AppError("HISTORY_DISABLED", {
          detail: "This conversation is incognito: earlier ones are not looked at.",
          hint: "Tell the user so.",
        });
      const hits = await history.search(context.owner, {
        query,
        limit: LIMIT,
        now: context.now,
        signal: context.signal,
        ...(from !== undefined && { from: `${from}T00:00:00.000Z` }),
        ...(to !== undefined && { to: dayAfter(to) }),
        ...(role !== undefined && { role }),
        ...(context.hiddenMessageIds !== undefined && { excludeMessageIds: context.hiddenMessageIds }),
      });
      const before = cited.get(context.userMessage) ?? context.references ?? 0;
      cited.set(context.userMessage, before + hits.length);
      const refs = hits.map((hit, index) => ({
        hit,
        name: `Ref #${before + index + 1} — ${dayOf(new Date(hit.created_at), context.now, context.timeZone)}`,
      }));
      return {
        output: {
          found: refs.map(({ hit, name }) => line(hit, name)),
          ...(refs.length === 0 && (context.hiddenMessageIds?.size ?? 0) > 0 && { note: SHOWN_ALREADY }),
        },
        elements: refs.map(
          ({ hit, name }): Element => ({ id: `message:${hit.id}`, type: "text", name, content: hit.content, display: "side" }),
        ),
        sources: refs.map(({ hit, name }) => ({ id: hit.id, title: name, type: "message" })),
      };
    },
  };
}

function line(hit: HistoryHit, name: string): JsonObject {
  return {
    ref: name,
    said_by: hit.role === "user" ? (hit.name ?? "the user") : hit.role,
    at: hit.created_at,
    text: hit.content.length > SHOWN_CHARS ? `${cutText(hit.content, SHOWN_CHARS)} …` : hit.content,
    session_id: hit.session_id,
    turn: hit.turn,
  };
}

function dayAfter(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00.000Z`) + 86_400_000).toISOString();
}
