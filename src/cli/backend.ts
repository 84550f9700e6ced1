import type { Memory } from "../domain/memory.js";
import type { Session } from "../domain/session.js";
import type { ChatAnswer, ChatEvent, ImportResult, Readiness } from "../ports/application.js";
import type { ErasureReceipt } from "../ports/owner-ledger.js";

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
  /** What waits for the user's word, and what of a memory that holds waits to be changed. */
  waiting(): Promise<readonly Memory[]>;
  /** The user's yes. @throws MEMORY_NOT_FOUND */
  approve(id: string): Promise<Memory>;
  /** The user's no. @throws MEMORY_NOT_FOUND */
  reject(id: string): Promise<Memory>;
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
