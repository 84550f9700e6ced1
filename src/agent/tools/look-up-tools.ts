import { z } from "zod";
import { normalised } from "../../domain/normalised-text.js";
import { only, shorterList } from "../../domain/recap.js";
import type { JsonValue } from "../../domain/session.js";
import { type Tool, WRITE_BACK_WAIT_MS } from "../../ports/agent.js";
import { type MemoryToolParts, memoryLine, mustRead } from "./tool-turn.js";

const LISTED = 100;
const FOUND = 20;

const named = (memory: JsonValue) => only(memory, "memory_id", "text");

const listInput = z.strictObject({ category: z.string().max(64).optional() });

/** `list_memories`: all that holds, and what waits for the guest's word. */
export function listMemoriesTool({ memories, turns, writtenBack = async () => true }: MemoryToolParts): Tool<z.infer<typeof listInput>> {
  return {
    name: "list_memories",
    description: "All that is remembered about the user, and what waits for their word.",
    parameters: listInput,
    recap: (output) => shorterList(output, "memories", named),
    run: async ({ category }, context) => {
      mustRead(context);
      const { owner, signal } = context;
      const isWritten = await writtenBack(owner, AbortSignal.any([signal, AbortSignal.timeout(WRITE_BACK_WAIT_MS)]));
      signal.throwIfAborted();
      const filter = category === undefined ? {} : { category };
      const [page, waiting] = await Promise.all([
        memories.list(owner, { limit: LISTED, status: "active", signal, ...filter }),
        turns.toConfirm(owner, { talk: false, signal }),
      ]);
      const shown = waiting.filter(
        (memory) => memory.status === "review" && (category === undefined || normalised(memory.category) === normalised(category)),
      );
      return {
        output: {
          memories: page.data.map(memoryLine),
          more: page.nextCursor !== null,
          ...(!isWritten && { still_reading: "what they said last" }),
          ...(shown.length > 0 && { not_confirmed_yet: shown.map(memoryLine) }),
        },
        used: [...page.data, ...shown].map(({ id }) => id),
      };
    },
  };
}

const searchInput = z.strictObject({
  query: z.string().min(1).max(500),
  category: z.string().max(64).optional(),
});

/** `search_memories`: what is remembered about one thing, best first. */
export function searchMemoriesTool({ memories }: MemoryToolParts): Tool<z.infer<typeof searchInput>> {
  return {
    name: "search_memories",
    description: "Finds what is remembered about the user, by meaning.",
    parameters: searchInput,
    recap: (output) => shorterList(output, "memories", named),
    run: async ({ query, category }, context) => {
      mustRead(context);
      const found = await memories.search(context.owner, {
        text: query,
        limit: FOUND,
        status: "active",
        signal: context.signal,
        ...(category !== undefined && { category }),
      });
      return { output: { memories: found.map(memoryLine) }, used: found.map(({ id }) => id) };
    },
  };
}
