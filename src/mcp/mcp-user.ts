import type { Memory } from "../domain/memory.js";
import type { Role } from "../domain/session.js";
import type { ChatAnswer, HistoryHit } from "../ports/resources.js";

/** What the tools ask of the one user that they work for: `maitred.for({ user })` has all of it. */
export interface McpUser {
  /** One turn. */
  chat(
    message: string,
    options: {
      readonly sessionId?: string;
      readonly pageContext?: string;
      readonly incognito?: boolean;
      readonly channel: string;
      /** IANA name. */
      readonly timeZone?: string;
      readonly signal: AbortSignal;
    },
  ): Promise<ChatAnswer>;
  /** Long-term memory. */
  readonly memories: {
    add(
      text: string,
      options: {
        readonly category?: string;
        readonly strength?: "hard" | "soft";
        readonly subject?: string;
        readonly scope?: "standing" | "trip";
        readonly validUntil?: string | null;
      },
    ): Promise<Memory>;
    search(
      query: string,
      options: { readonly category?: string; readonly limit?: number; readonly signal: AbortSignal },
    ): Promise<readonly (Memory & { readonly score: number })[]>;
    forget(id: string): Promise<void>;
  };
  /** What was said, verbatim. */
  readonly history: {
    search(
      query: string,
      options: {
        readonly limit?: number;
        readonly sessionId?: string;
        readonly from?: string;
        readonly to?: string;
        readonly role?: Role;
        readonly context?: number;
        readonly signal: AbortSignal;
      },
    ): Promise<readonly HistoryHit[]>;
  };
}
