import type { Owner } from "../domain/owner.js";
import type { Application } from "../ports/application.js";
import type { Backend } from "./backend.js";

/** How long leaving waits for what was said to be remembered; the rest is done at the next start. */
const DRAIN_MS = 5_000;
/** How long a list waits for what was just said to be in it. */
export const FLUSH_MS = 10_000;
/** What a search of memories shows. */
export const FOUND = 20;

/** A document is read as one string, and no string can be longer. */
const MAX_DOCUMENT_BYTES = 512 * 1024 * 1024;

/** The commands' backend over the application in this process. */
export function localBackend(application: Application, owner: Owner): Backend {
  const { chat, sessions, memories, imports, privacy, info } = application;
  return {
    about: { model: info.model.name, store: info.shortTerm === "memory" ? "nothing is kept" : info.storageDir },
    warm: () => application.warm(owner),
    chat: ({ message, sessionId }, options) =>
      chat.chat({ owner, message, channel: "cli", timeZone: localTimeZone(), ...(sessionId === undefined ? {} : { sessionId }) }, options),
    sessions: async () => (await sessions.list(owner, { limit: 20 })).data,
    session: (id) => sessions.get(owner, id),
    messages: async (id) => (await sessions.messages(owner, id, { limit: 200, order: "desc" })).data.toReversed(),
    deleteSession: (id) => sessions.delete(owner, id),
    flush: async (id) => {
      await sessions.flush(owner, id, FLUSH_MS);
    },
    memories: async () => (await memories.list(owner, { limit: 50, status: "active" })).data,
    search: (text) => memories.search(owner, { text, limit: FOUND }),
    remember: (text, { hard }) =>
      memories.add(owner, { text, ...(hard && { strength: "hard" }) }, { now: new Date(), timeZone: localTimeZone() }),
    why: async (id) => (await import("../http/http.js")).whyOf({ memories, sessions }, owner, id),
    forget: async (id) => {
      await memories.forget(owner, id, { now: new Date() });
    },
    waiting: async () => {
      const [review, active] = await Promise.all([
        memories.list(owner, { limit: 50, status: "review" }),
        memories.list(owner, { limit: 200, status: "active" }),
      ]);
      return [...review.data, ...active.data.filter((memory) => memory.pending_change !== null)];
    },
    approve: (id) => memories.approve(owner, id, { now: new Date() }),
    reject: (id) => memories.reject(owner, id, { now: new Date() }),
    import: (body, options) => imports.import(owner, body, { ...options, maxBytes: MAX_DOCUMENT_BYTES }),
    export: () => privacy.export(owner, { by: "cli" }),
    erase: () => privacy.erase(owner, { by: "cli" }),
    readiness: () => application.readiness(),
    close: () => application.close({ drainMs: DRAIN_MS }),
  };
}

export function localTimeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}
