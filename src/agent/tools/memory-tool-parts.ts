import type { Owner } from "../../domain/owner.js";
import type { Need } from "../../ports/agent.js";
import type { Memories, TurnMemories } from "../../ports/memories.js";

/** What the memory tools stand on. */
export interface MemoryToolParts {
  readonly memories: Pick<Memories, "get" | "list" | "search" | "forgetAll">;
  readonly turns: Pick<TurnMemories, "remember" | "propose" | "settle" | "toConfirm">;
  /** What may have to hold in the domain. Empty: nothing is named. */
  readonly needs: readonly Need[];
  /** The need that is meant, by whatever name; null where it is none of them. */
  readonly needMeant: (said: string) => string | null;
  /** Whether a quote stands in the guest's own words of a message: typos and all, outside what they brought along. */
  readonly inOwnWords: (quote: string, message: string) => boolean;
  /** Resolves when what the guest said in turns before is in memory, or when the signal aborts; true for the first. Default: at once. */
  readonly writtenBack?: (owner: Owner, signal: AbortSignal) => Promise<boolean>;
}
