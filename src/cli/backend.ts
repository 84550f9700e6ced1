import type { ChatAnswer, ChatEvent, ImportResult, Readiness } from "../application.js";
import type { Memory } from "../long-term.js";
import type { ErasureReceipt } from "../owner-ledger.js";
import type { Session } from "../session.js";

/** What the commands ask for, of one user: from the storage directory itself, or from a server that owns it. */
export interface Backend {
  chat(
    request: { readonly message: string; readonly sessionId?: string },
    options: { readonly signal: AbortSignal; readonly onEvent: (event: ChatEvent) => void },
  ): Promise<ChatAnswer>;
  /** The newest 20 active ones, newest activity first. */
  sessions(): Promise<readonly Session[]>;
  /** @throws SESSION_NOT_FOUND */
  session(id: string): Promise<Session>;
  /** The newest 50 that hold. */
  memories(): Promise<readonly Memory[]>;
  /** @throws MEMORY_NOT_FOUND */
  forget(id: string): Promise<void>;
  import(
    body: AsyncIterable<Uint8Array>,
    options: {
      readonly format: "ndjson" | "export";
      readonly extract: boolean;
      readonly signal: AbortSignal;
      readonly onProgress: (done: number, total: number) => void;
    },
  ): Promise<ImportResult>;
  export(): AsyncIterable<string>;
  erase(): Promise<ErasureReceipt>;
  readiness(): Promise<Readiness>;
  close(): Promise<void>;
}
