import { LRUCache } from "lru-cache";
import type { Owner } from "../domain/owner.js";
import { isAppError } from "../platform/errors.js";
import { isId } from "../platform/ids.js";
import type { Application, ChatEvent } from "../ports/application.js";
import type { EventScope } from "../ports/event-log.js";

/** Who an owner is after merges, and what their sessions are called now. */
export interface KnownAs {
  resolve(owner: Owner): Promise<Owner>;
  sessionOf(owner: Owner, sessionId: string): Promise<string | null>;
}

/**
 * How long "is nobody else" is believed where a turn begins, in milliseconds: far below the 30 days for which a merge's fence refuses
 * whatever the merged user would write.
 */
const BELIEVED_MS = 24 * 60 * 60 * 1000;
const MAX_BELIEVED = 10_000;

interface TurnOptions {
  readonly onEvent?: (event: ChatEvent) => void | Promise<void>;
}

/** What doors call of the application that is of one owner. */
type OwnersPart = Pick<
  Application,
  "chat" | "ownAgent" | "sessions" | "memories" | "history" | "imports" | "privacy" | "events" | "seen" | "user"
>;

/**
 * The application for owners by any name that they have been known by: each call is made for whom they are now, and a session that they
 * know by its id from before is found. One cheap read a call, but for turns: of a user who was nobody else today none.
 */
export function knownAs(application: OwnersPart, known: KnownAs): OwnersPart {
  const { chat, ownAgent, sessions, memories, history, imports, privacy, events } = application;
  const ofOwner = async <T>(owner: Owner, work: (owner: Owner) => T | Promise<T>): Promise<T> => work(await known.resolve(owner));
  /** A session that isn't there is looked for under its name of today. Nothing is done before that is known. */
  const ofSession = async <T>(owner: Owner, id: unknown, work: (owner: Owner, id: string) => Promise<T>): Promise<T> => {
    const who = await known.resolve(owner);
    try {
      return await work(who, id as string);
    } catch (error) {
      const now = isAppError(error, "SESSION_NOT_FOUND") && typeof id === "string" ? await known.sessionOf(who, id) : null;
      if (now === null) throw error;
      return work(who, now);
    }
  };
  const ofRequest = <R extends { readonly owner: Owner; readonly sessionId?: string }, T>(request: R, work: (request: R) => Promise<T>) =>
    ofSession(request.owner, request.sessionId, (owner, sessionId) =>
      work({ ...request, owner, ...(sessionId !== undefined && { sessionId }) }),
    );
  const unmerged = new LRUCache<Owner, true>({ max: MAX_BELIEVED, ttl: BELIEVED_MS });
  /** A turn begins with a write, which is refused where the user has been merged since: who they are is read then. */
  const ofTurn = async <R extends { readonly owner: Owner; readonly sessionId?: string }, O extends TurnOptions, T>(
    request: R,
    options: O | undefined,
    work: (request: R, options: O | undefined) => Promise<T>,
  ): Promise<T> => {
    const { owner } = request;
    if (unmerged.has(owner)) {
      let begun = false;
      const onEvent = (event: ChatEvent) => {
        begun = true;
        return options?.onEvent?.(event);
      };
      try {
        return await work(request, { ...options, onEvent } as O);
      } catch (error) {
        if (begun || !isAppError(error)) throw error;
        if (error.code !== "OWNER_ERASED" && error.code !== "SESSION_NOT_FOUND") throw error;
        unmerged.delete(owner);
      }
    }
    return ofRequest(request, async (as) => {
      if (as.owner === owner) unmerged.set(owner, true);
      return work(as, options);
    });
  };
  /** A filter finds nothing where a name is of before: it is looked up first. */
  const filtered = async <T>(
    owner: Owner,
    id: string | undefined,
    work: (owner: Owner, id: string | undefined) => Promise<T>,
  ): Promise<T> => {
    const who = await known.resolve(owner);
    const now = id === undefined || !isId(id) ? null : await known.sessionOf(who, id);
    return work(who, now ?? id);
  };
  const scopeNow = async (scope: EventScope): Promise<EventScope> =>
    typeof scope === "object" && "owner" in scope ? { owner: await known.resolve(scope.owner) } : scope;
  return {
    chat: {
      chat: (request, options) => ofTurn(request, options, (as, given) => chat.chat(as, given)),
      resume: (request, options) => ofTurn(request, options, (as, given) => chat.resume(as, given)),
    },
    ownAgent: {
      addMessages: (request, options) => ofRequest(request, (as) => ownAgent.addMessages(as, options)),
      context: (request, options) => ofRequest(request, (as) => ownAgent.context(as, options)),
    },
    sessions: {
      create: (owner, ...rest) => ofOwner(owner, (as) => sessions.create(as, ...rest)),
      findOrCreate: (owner, ...rest) => ofOwner(owner, (as) => sessions.findOrCreate(as, ...rest)),
      list: (owner, ...rest) => ofOwner(owner, (as) => sessions.list(as, ...rest)),
      get: (owner, id) => ofSession(owner, id, (as, now) => sessions.get(as, now)),
      patch: (owner, id, ...rest) => ofSession(owner, id, (as, now) => sessions.patch(as, now, ...rest)),
      delete: (owner, id) => ofSession(owner, id, (as, now) => sessions.delete(as, now)),
      restore: (owner, id) => ofSession(owner, id, (as, now) => sessions.restore(as, now)),
      purge: (owner, id, ...rest) => ofSession(owner, id, (as, now) => sessions.purge(as, now, ...rest)),
      empty: (owner, id) => ofSession(owner, id, (as, now) => sessions.empty(as, now)),
      messages: (owner, id, ...rest) => ofSession(owner, id, (as, now) => sessions.messages(as, now, ...rest)),
      message: (owner, id, ...rest) => ofSession(owner, id, (as, now) => sessions.message(as, now, ...rest)),
      thread: (owner, id) => ofSession(owner, id, (as, now) => sessions.thread(as, now)),
      image: (owner, id, ...rest) => ofSession(owner, id, (as, now) => sessions.image(as, now, ...rest)),
      fork: (owner, id, ...rest) => ofSession(owner, id, (as, now) => sessions.fork(as, now, ...rest)),
      flush: (owner, id, ...rest) => ofSession(owner, id, (as, now) => sessions.flush(as, now, ...rest)),
      retryWriteBack: (owner, id) => ofSession(owner, id, (as, now) => sessions.retryWriteBack(as, now)),
    },
    memories: {
      get: (owner, ...rest) => ofOwner(owner, (as) => memories.get(as, ...rest)),
      list: (owner, query) =>
        filtered(owner, query.sessionId, (as, sessionId) => memories.list(as, { ...query, ...(sessionId !== undefined && { sessionId }) })),
      search: (owner, query) =>
        filtered(owner, query.sessionId, (as, sessionId) =>
          memories.search(as, { ...query, ...(sessionId !== undefined && { sessionId }) }),
        ),
      history: (owner, ...rest) => ofOwner(owner, (as) => memories.history(as, ...rest)),
      add: (owner, ...rest) => ofOwner(owner, (as) => memories.add(as, ...rest)),
      addAll: (owner, ...rest) => ofOwner(owner, (as) => memories.addAll(as, ...rest)),
      patch: (owner, ...rest) => ofOwner(owner, (as) => memories.patch(as, ...rest)),
      approve: (owner, ...rest) => ofOwner(owner, (as) => memories.approve(as, ...rest)),
      reject: (owner, ...rest) => ofOwner(owner, (as) => memories.reject(as, ...rest)),
      forget: (owner, ...rest) => ofOwner(owner, (as) => memories.forget(as, ...rest)),
      forgetAll: (owner, ...rest) => ofOwner(owner, (as) => memories.forgetAll(as, ...rest)),
    },
    history: {
      search: (owner, query) =>
        filtered(owner, query.session_id, (as, id) => history.search(as, { ...query, ...(id !== undefined && { session_id: id }) })),
      addSession: (owner, ...rest) => ofOwner(owner, (as) => history.addSession(as, ...rest)),
      addEvents: (owner, ...rest) => ofOwner(owner, (as) => history.addEvents(as, ...rest)),
      removeSession: (owner, ...rest) => ofOwner(owner, (as) => history.removeSession(as, ...rest)),
      removeMessages: (owner, ...rest) => ofOwner(owner, (as) => history.removeMessages(as, ...rest)),
      count: (owner, ...rest) => ofOwner(owner, (as) => history.count(as, ...rest)),
      counts: (each) => history.counts(each),
      erase: (owner) => ofOwner(owner, (as) => history.erase(as)),
      residue: (owner) => ofOwner(owner, (as) => history.residue(as)),
      health: () => history.health(),
      close: () => history.close(),
    },
    imports: { import: (owner, ...rest) => ofOwner(owner, (as) => imports.import(as, ...rest)) },
    privacy: {
      records: (owner) => ofOwner(owner, (as) => privacy.records(as)),
      export: async function* (owner, options) {
        yield* privacy.export(await known.resolve(owner), options);
      },
      erase: (owner, options) => ofOwner(owner, (as) => privacy.erase(as, options)),
      resume: () => privacy.resume(),
    },
    events: {
      list: async (scope, query) => events.list(await scopeNow(scope), query),
      follow: async (scope, options) => events.follow(await scopeNow(scope), options),
      on: (...args) => events.on(...args),
      undelivered: (...args) => events.undelivered(...args),
      deliverAgain: (...args) => events.deliverAgain(...args),
      endFollowers: () => events.endFollowers(),
    },
    seen: (owner, seen) => {
      // Their visit is told by the next one where who they are can't be told now.
      ofOwner(owner, (as) => application.seen(as, seen)).catch(() => undefined);
    },
    user: (owner) => ofOwner(owner, (as) => application.user(as)),
  };
}
