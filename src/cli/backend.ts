import type { Memory } from "../domain/memory.js";
import type { Message, Session } from "../domain/session.js";
import type { ChatEvent, ImportResult } from "../ports/application.js";
import type { ChatAnswer, ErasureReceipt, Readiness, Why } from "../ports/resources.js";

/** What the commands ask for, of one user: from the storage directory itself, or from a server that owns it. */
export interface Backend {
  /** Who answers and where things are kept, as far as it is known here. `model` is null where a server knows it. */
  readonly about: { readonly model: string | null; readonly store: string };
  /** Loads what the first answer needs, so that it doesn't wait for it. */
  warm(): Promise<void>;
  chat(
    request: { readonly message: string; readonly sessionId?: string },
    options: { readonly signal: AbortSignal; readonly onEvent: (event: ChatEvent) => void },
  ): Promise<ChatAnswer>;
  /** The newest 20 active ones, newest activity first. */
  sessions(): Promise<readonly Session[]>;
  /** @throws SESSION_NOT_FOUND */
  session(id: string): Promise<Session>;
  /** The newest 200, oldest first. @throws SESSION_NOT_FOUND */
  messages(sessionId: string): Promise<readonly Message[]>;
  /** Can be restored for a while. @throws SESSION_NOT_FOUND */
  deleteSession(id: string): Promise<void>;
  /** Waits until what was said in a session is remembered, at most 10 seconds. */
  flush(sessionId: string): Promise<void>;
  /** The newest 50 that hold. */
  memories(): Promise<readonly Memory[]>;
  /** Best first, at most 20. */
  search(query: string): Promise<readonly Memory[]>;
  /** Stated by hand. @throws MEMORY_REFUSED, INVALID_REQUEST */
  remember(text: string, options: { readonly hard: boolean }): Promise<Memory>;
  /** @throws MEMORY_NOT_FOUND */
  why(id: string): Promise<Why>;
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
