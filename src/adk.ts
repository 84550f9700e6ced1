import {
  type AdkEvent,
  type AdkSession,
  eventOf,
  logItemOf,
  mergedState,
  textParts,
  type WithoutTemporary,
  withoutTemporary,
} from "./adk/events.js";
import { type ConversationLog, type LogKey, toJsonObject } from "./conversation-log.js";
import type { ConversationHistory } from "./history.js";
import { type Owner, ownerOf } from "./owner.js";
import { importedSessionId, newId } from "./platform/ids.js";

export interface AdkOptions {
  readonly log: ConversationLog;
  readonly history: ConversationHistory;
  /**
   * The owner of an ADK user. Default: tenant `adk.<app>`, the user as it is: users of two apps never meet.
   * The user id must be the server's own knowledge of who that is.
   */
  readonly ownerOf?: (appName: string, userId: string) => Owner;
  /** Hits of a memory search. Default: the history's own. */
  readonly searchLimit?: number;
}

interface Key {
  readonly appName: string;
  readonly userId: string;
}
interface SessionKey extends Key {
  readonly sessionId: string;
}
interface ListRequest {
  readonly appName: string;
  readonly userId?: string;
  readonly limit?: number;
  readonly offset?: number;
  readonly page?: number;
  readonly order?: "asc" | "desc";
}
interface GetRequest extends SessionKey {
  readonly config?: { readonly numRecentEvents?: number; readonly afterTimestamp?: number };
}
interface CreateRequest extends Key {
  readonly state?: Record<string, unknown>;
  readonly sessionId?: string;
}
interface BaseService {
  appendEvent(request: { session: AdkSession; event: AdkEvent }): Promise<AdkEvent>;
}

const ADK_USER = "app-state";
const STATE = "state";

function keyOf(options: AdkOptions, { appName, userId }: Key, conversation: string): LogKey {
  return { owner: (options.ownerOf ?? defaultOwner)(appName, userId), channel: `adk:${appName}`, conversation };
}

function defaultOwner(appName: string, userId: string): Owner {
  return ownerOf(`adk.${appName}`, userId);
}

/**
 * A `BaseMemoryService` of `@google/adk`: sessions are added to verbatim history (again: nothing changes), and searched there by meaning and
 * by words, for their own user alone.
 */
export class MaitredMemoryService {
  readonly #options: AdkOptions;

  constructor(options: AdkOptions) {
    this.#options = options;
  }

  async addSessionToMemory(session: AdkSession): Promise<void> {
    const { owner, channel } = keyOf(this.#options, session, session.id);
    const sessionId = importedSessionId(owner, `${channel}/${session.id}`);
    const messages = session.events.flatMap((event, i) => {
      const item = logItemOf(event);
      if (item.text === "") return [];
      const said = { message_id: event.id ?? `${session.id}#${i}`, session_id: sessionId, turn: Math.floor(i / 2) + 1, position: i };
      return [
        {
          ...said,
          role: item.role,
          name: item.name ?? null,
          content: item.text,
          channel,
          created_at: item.at ?? new Date(0).toISOString(),
        },
      ];
    });
    await this.#options.history.addSession(owner, sessionId, messages);
  }

  async searchMemory(request: Key & { readonly query: string }) {
    const { owner } = keyOf(this.#options, request, "");
    const { history, searchLimit } = this.#options;
    const hits = await history.search(owner, { query: request.query, ...(searchLimit === undefined ? {} : { limit: searchLimit }) });
    return {
      memories: hits.map(({ content, role, name, created_at }) => ({
        content: { role: role === "user" ? "user" : "model", parts: textParts(content) },
        author: name ?? (role === "user" ? "user" : "model"),
        timestamp: created_at,
      })),
    };
  }
}

/**
 * A `BaseSessionService` of `@google/adk` over Maitred's journals: `adkSessionService(BaseSessionService, { log, history })`. Every event is
 * durable when `appendEvent` resolves. State is the fold of the events' deltas; `app:` and `user:` keys are shared as ADK has it, `temp:`
 * keys are kept nowhere. Listing the sessions of all users of an app is refused: an owner is named in every call.
 */
export function adkSessionService<Base extends abstract new (...args: never[]) => object>(
  Base: Base,
  options: AdkOptions,
): InstanceType<Base> {
  const { log } = options;
  const Parent = Base as unknown as new () => BaseService;

  const sharedState = async (key: Key): Promise<WithoutTemporary> => {
    const app = await log.items(keyOf(options, { ...key, userId: ADK_USER }, STATE));
    const user = await log.items(keyOf(options, key, STATE));
    return mergedState([...app, ...user].map(({ item }) => item));
  };
  const sessionOf = async (request: GetRequest): Promise<AdkSession | undefined> => {
    const key = keyOf(options, request, request.sessionId);
    const kept = await log.session(key);
    if (kept === null) return undefined;
    const events = [...new Map((await log.items(key)).map(({ item }) => eventOf(item)).map((event, i) => [event.id ?? i, event])).values()];
    const state = mergedState([kept.metadata, ...events.map((event) => toJsonObject(event.actions?.stateDelta ?? {}))]);
    const { numRecentEvents, afterTimestamp } = request.config ?? {};
    let shown = numRecentEvents === undefined || numRecentEvents === 0 ? events : events.slice(-numRecentEvents);
    if (afterTimestamp !== undefined && afterTimestamp !== 0) shown = shown.filter((event) => event.timestamp >= afterTimestamp);
    return {
      ...{ id: request.sessionId, appName: request.appName, userId: request.userId, events: shown },
      state: { ...state, ...(await sharedState(request)) },
      lastUpdateTime: events.at(-1)?.timestamp ?? Date.parse(kept.created_at),
    };
  };

  class MaitredSessionService extends Parent {
    async createSession({ appName, userId, state, sessionId }: CreateRequest): Promise<AdkSession> {
      const id = sessionId?.trim() || newId();
      const { shared, own } = withoutTemporary(state ?? {});
      await log.create(keyOf(options, { appName, userId }, id), own);
      await keepShared({ appName, userId }, shared);
      const session = await sessionOf({ appName, userId, sessionId: id });
      return session ?? { id, appName, userId, state: own, events: [], lastUpdateTime: Date.now() };
    }

    async getSession(request: GetRequest): Promise<AdkSession | undefined> {
      return sessionOf(request);
    }

    async listSessions({ appName, userId, limit, offset = 0, page, order }: ListRequest) {
      const listed = userId === undefined ? [] : await log.list(keyOf(options, { appName, userId }, "").owner, `adk:${appName}`);
      const sessions = listed
        .filter(({ conversation }) => conversation !== STATE)
        .map(({ conversation, session }) => ({
          ...{ id: conversation, appName, userId: userId ?? "", state: {}, events: [] },
          lastUpdateTime: Date.parse(session.updated_at),
        }));
      if (order !== undefined)
        sessions.sort((a, b) => (order === "asc" ? 1 : -1) * (a.lastUpdateTime - b.lastUpdateTime || (a.id < b.id ? -1 : 1)));
      const totalItems = sessions.length;
      if (limit === undefined)
        return { sessions: sessions.slice(offset), page: 1, limit: totalItems, totalItems, totalPages: totalItems === 0 ? 0 : 1 };
      const start = page === undefined ? offset : (page - 1) * limit;
      const totalPages = limit === 0 ? 0 : Math.ceil(totalItems / limit);
      const current = page ?? (limit === 0 ? 1 : Math.floor(start / limit) + 1);
      return { sessions: sessions.slice(start, start + limit), page: current, limit, totalItems, totalPages };
    }

    async deleteSession({ appName, userId, sessionId }: SessionKey): Promise<void> {
      await log.remove(keyOf(options, { appName, userId }, sessionId));
    }

    override async appendEvent(request: { session: AdkSession; event: AdkEvent }): Promise<AdkEvent> {
      const event = await super.appendEvent(request);
      if (event.partial === true) return event;
      const { session } = request;
      const { shared, own } = withoutTemporary(event.actions?.stateDelta ?? {});
      const kept = event.actions === undefined ? event : { ...event, actions: { ...event.actions, stateDelta: own } };
      await log.append(keyOf(options, session, session.id), [logItemOf(kept)]);
      await keepShared(session, shared);
      session.lastUpdateTime = event.timestamp;
      return event;
    }
  }

  const keepShared = async (key: Key, shared: WithoutTemporary): Promise<void> => {
    for (const [prefix, userId] of [
      ["app:", ADK_USER],
      ["user:", key.userId],
    ] as const) {
      const item = Object.fromEntries(Object.entries(shared).filter(([name]) => name.startsWith(prefix)));
      if (Object.keys(item).length > 0) await log.append(keyOf(options, { ...key, userId }, STATE), [{ role: "system", text: "", item }]);
    }
  };
  return new MaitredSessionService() as unknown as InstanceType<Base>;
}
