import type { Memory } from "../domain/memory.js";
import type { Owner } from "../domain/owner.js";
import type { Message, Session } from "../domain/session.js";
import type { Application, ChatEvent, ImportResult } from "../ports/application.js";
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

/** How long leaving waits for what was said to be remembered; the rest is done at the next start. */
const DRAIN_MS = 5_000;
/** How long a list waits for what was just said to be in it. */
export const FLUSH_MS = 10_000;
/** What a search of memories shows. */
export const FOUND = 20;

/** A document is read as one string, and no string can be longer. */
const MAX_DOCUMENT_BYTES = 512 * 1024 * 1024;

/** The commands' backend over the application in this process. */
export function localBackend(application: Application, named: Owner): Backend {
  const { chat, sessions, memories, imports, privacy, info } = application;
  /** Asked anew for each command: a chat may be open while its user is merged. */
  const now = () => application.identities.resolve(named);
  return {
    about: { model: info.model.name, store: info.shortTerm === "memory" ? "nothing is kept" : info.storageDir },
    warm: () => application.warm(named),
    chat: ({ message, sessionId }, options) =>
      chat.chat(
        { owner: named, message, channel: "cli", timeZone: localTimeZone(), ...(sessionId === undefined ? {} : { sessionId }) },
        options,
      ),
    sessions: async () => (await sessions.list(await now(), { limit: 20 })).data,
    session: async (id) => sessions.get(await now(), id),
    messages: async (id) => (await sessions.messages(await now(), id, { limit: 200, order: "desc" })).data.toReversed(),
    deleteSession: async (id) => sessions.delete(await now(), id),
    flush: async (id) => {
      await sessions.flush(await now(), id, FLUSH_MS);
    },
    memories: async () => (await memories.list(await now(), { limit: 50, status: "active" })).data,
    search: async (text) => memories.search(await now(), { text, limit: FOUND }),
    remember: async (text, { hard }) =>
      memories.add(await now(), { text, ...(hard && { strength: "hard" }) }, { now: new Date(), timeZone: localTimeZone() }),
    why: async (id) => (await import("../http/http.js")).whyOf({ memories, sessions }, await now(), id),
    forget: async (id) => {
      await memories.forget(await now(), id, { now: new Date() });
    },
    waiting: () => waitingIn(async (query) => (await memories.list(await now(), query)).data),
    approve: async (id) => memories.approve(await now(), id, { now: new Date() }),
    reject: async (id) => memories.reject(await now(), id, { now: new Date() }),
    import: async (body, options) => imports.import(await now(), body, { ...options, maxBytes: MAX_DOCUMENT_BYTES }),
    export: async function* () {
      yield* privacy.export(await now(), { by: "cli" });
    },
    erase: async () => privacy.erase(await now(), { by: "cli" }),
    readiness: () => application.readiness(),
    close: () => application.close({ drainMs: DRAIN_MS }),
  };
}

/** What waits for the user's word: memories, and changes of those that hold. */
export async function waitingIn(
  list: (query: { readonly status: "review" | "active"; readonly limit: number }) => Promise<readonly Memory[]>,
): Promise<readonly Memory[]> {
  const [review, active] = await Promise.all([list({ status: "review", limit: 50 }), list({ status: "active", limit: 200 })]);
  return [...review, ...active.filter((memory) => memory.pending_change !== null)];
}

export function localTimeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}
