import { type Owner, ownerOf, parseOwner } from "../domain/owner.js";
import { handlePartsOf, knownOptions, type Maitred, type MaitredUser, serverPartsOf } from "../library/library.js";
import { AppError } from "../platform/errors.js";
import { newId } from "../platform/ids.js";
import type { ConversationLog } from "../sessions/conversation-log.js";
import { type LogKey, toJsonObject } from "../sessions/log-items.js";
import {
  type AdkEvent,
  type AdkSession,
  logItemOf,
  mergedState,
  saidWithoutAdk,
  textParts,
  type WithoutTemporary,
  withoutTemporary,
} from "./adk-events.js";
import { BESIDE_THE_MESSAGES, frameworkPart, itemsIn } from "./of-user.js";

export interface AdkOptions {
  /** What `createMaitred` gave. */
  readonly maitred: Maitred;
  /**
   * The handle of an ADK user. The user id must be the server's own knowledge of who that is. Default: the user as it is, of the tenant
   * `adk.<app>`: users of two apps never meet.
   */
  readonly user?: (appName: string, userId: string) => MaitredUser | Promise<MaitredUser>;
  /** Hits of a memory search, 1 to 200. Default: `memorySearchLimit` (20). */
  readonly searchLimit?: number;
}

const OPTIONS = { maitred: true, user: true, searchLimit: true } as const satisfies Record<keyof AdkOptions, true>;

/** What both services stand on. */
interface Desk {
  readonly maitred: Maitred;
  readonly log: ConversationLog;
  readonly searchLimit: number | undefined;
  /** Whether users are found as they are by default. */
  readonly tellsUsers: boolean;
  owner(user: Key): Promise<Owner>;
}

/** @throws INVALID_CONFIG where `maitred` is missing, UNKNOWN_FIELD for another option, SHUTTING_DOWN */
function deskOf(options: AdkOptions): Desk {
  const given = knownOptions<AdkOptions>(options, OPTIONS);
  const { log, asked } = serverPartsOf(given.maitred);
  asked();
  const maitred = given.maitred as Maitred;
  const { searchLimit, user = (app, id) => maitred.for({ user: id, tenant: `${TENANT}${app}` }) } = given;
  const owner = async ({ appName, userId }: Key) => handlePartsOf(await user(appName, userId)).owner();
  return { maitred, log, searchLimit, tellsUsers: given.user === undefined, owner };
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

/** Where the state of a user, or of an app, is kept: no session has this channel. */
const STATE_CHANNEL = "adk-state";
/** Where events are kept that were added without their session. */
const MEMORY_CHANNEL = "adk-memory";

async function keyOf(desk: Desk, user: Key, conversation: string, kind = "adk"): Promise<LogKey> {
  const channel = channelOf(kind, user);
  return { owner: await desk.owner(user), channel, session: { externalId: `${channel}/${conversation}` } };
}

function channelOf(kind: string, { appName }: Pick<Key, "appName">): string {
  return `${kind}:${encodeURIComponent(appName)}`;
}

/** An app's own state is no user's: its tenant is not one that users have. */
function appStateKey(appName: string): LogKey {
  return { owner: ownerOf(`adk-app.${appName}`, "state"), channel: STATE_CHANNEL, session: { externalId: `${STATE_CHANNEL}/state` } };
}

const TENANT = "adk.";

/**
 * A `BaseMemoryService` of `@google/adk`. What is added is kept verbatim, and what the user says forms memories (again: nothing changes).
 * A search gives what is known of the user and then what was said, by meaning and by words, for their own user alone; each
 * entry with its id, and in `customMetadata` what it is.
 */
export class MaitredMemoryService {
  readonly #desk: Desk;

  /** @throws INVALID_CONFIG where `maitred` is missing, UNKNOWN_FIELD for another option, SHUTTING_DOWN */
  constructor(options: AdkOptions) {
    this.#desk = deskOf(options);
  }

  /** Without effect for events of a session that Maitred keeps already. */
  async addSessionToMemory({ appName, userId, id: sessionId, events }: AdkSession): Promise<void> {
    const named = events.map((event, place) => (event.id === undefined ? { ...event, id: `${sessionId}#${place}` } : event));
    await this.addEventsToMemory({ appName, userId, sessionId, events: named });
  }

  /** `customMetadata` is given back with what a search finds of them. Events that are there already are passed over. */
  async addEventsToMemory(request: {
    readonly appName: string;
    readonly userId: string;
    readonly events: readonly AdkEvent[];
    /** Default: they belong to no session that is listed. */
    readonly sessionId?: string;
    readonly customMetadata?: Record<string, unknown>;
  }): Promise<void> {
    const { sessionId, events, customMetadata } = request;
    const key =
      sessionId === undefined ? await keyOf(this.#desk, request, "events", MEMORY_CHANNEL) : await keyOf(this.#desk, request, sessionId);
    const known = new Set((await this.#desk.log.items(key)).map(({ id }) => id));
    const metadata = customMetadata === undefined ? {} : { metadata: toJsonObject(customMetadata) };
    const items = events.map((event) => ({ ...logItemOf(event), ...metadata }));
    await this.#desk.log.append(
      key,
      items.filter(({ id, text }) => text !== "" && (id === undefined || !known.has(id))),
    );
  }

  async searchMemory({ query, ...user }: Key & { readonly query: string }) {
    const owner = await this.#desk.owner(user);
    const { maitred, searchLimit } = this.#desk;
    const { history, ownAgent } = maitred;
    const [facts, hits] = await Promise.all([
      ownAgent.context({ owner, query, include: BESIDE_THE_MESSAGES }),
      history.search(owner, { query, ...(searchLimit === undefined ? {} : { limit: searchLimit }) }),
    ]);
    return {
      memories: [
        ...facts.memory.recalled.map(({ id, text, created_at, category, strength, subject, source }) => ({
          id,
          content: { role: "user", parts: textParts(text) },
          author: "memory",
          timestamp: created_at,
          customMetadata: toJsonObject({ kind: "memory", category, strength, subject, source }),
        })),
        ...hits.map(({ id, content, role, name, created_at, session_id, turn, score, custom_metadata }) => ({
          id,
          content: { role: role === "user" ? "user" : "model", parts: textParts(content) },
          author: name ?? (role === "user" ? "user" : "model"),
          timestamp: created_at,
          customMetadata: { ...custom_metadata, kind: "message", session_id, turn, score },
        })),
      ],
    };
  }
}

/**
 * A `BaseSessionService` of `@google/adk` over Maitred's journals: `adkSessionService(BaseSessionService, { maitred })`. Every event
 * is durable when `appendEvent` resolves, which costs what the event holds, and what the user says forms memories. State is the fold of
 * the events' deltas; `app:` and `user:` keys are shared as ADK has it, `temp:` keys are kept nowhere. The sessions of all users of an app
 * are listed only with users as they are by default: whom a `user` of one's own stands for nobody can tell.
 * @throws INVALID_CONFIG where `maitred` is missing, INVALID_REQUEST where `BaseSessionService` is, UNKNOWN_FIELD for another option,
 *   SHUTTING_DOWN
 */
export function adkSessionService<Base extends abstract new (...args: never[]) => object>(
  Base: Base,
  options: AdkOptions,
): InstanceType<Base> {
  const desk = deskOf(options);
  const { log } = desk;
  const Parent = frameworkPart(Base, "BaseSessionService", "@google/adk") as unknown as new () => BaseService;

  const sharedState = async (key: Key): Promise<WithoutTemporary> => {
    const app = await log.items(appStateKey(key.appName));
    const user = await log.items(await keyOf(desk, key, "state", STATE_CHANNEL));
    return mergedState([...app, ...user].map(({ item }) => item));
  };
  const sessionOf = async (request: GetRequest): Promise<AdkSession | undefined> => {
    const key = await keyOf(desk, request, request.sessionId);
    const kept = await log.session(key);
    if (kept === null) return undefined;
    const given = itemsIn(await log.items(key), saidWithoutAdk);
    const events = [...new Map(given.map((event, i) => [event.id ?? i, event])).values()];
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
      await log.create(await keyOf(desk, { appName, userId }, id), own);
      await keepShared({ appName, userId }, shared);
      const session = await sessionOf({ appName, userId, sessionId: id });
      return session ?? { id, appName, userId, state: own, events: [], lastUpdateTime: Date.now() };
    }

    async getSession(request: GetRequest): Promise<AdkSession | undefined> {
      return sessionOf(request);
    }

    async listSessions({ appName, userId, limit, offset = 0, page, order }: ListRequest) {
      const users = userId === undefined ? await usersOf(desk, appName) : [userId];
      const listed = await Promise.all(users.map((user) => sessionsOf(desk, { appName, userId: user })));
      const sessions = listed.flat();
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
      await log.remove(await keyOf(desk, { appName, userId }, sessionId));
    }

    override async appendEvent(request: { session: AdkSession; event: AdkEvent }): Promise<AdkEvent> {
      const event = await super.appendEvent(request);
      if (event.partial === true) return event;
      const { session } = request;
      const { shared, own } = withoutTemporary(event.actions?.stateDelta ?? {});
      const kept = event.actions === undefined ? event : { ...event, actions: { ...event.actions, stateDelta: own } };
      await log.append(await keyOf(desk, session, session.id), [logItemOf(kept)]);
      await keepShared(session, shared);
      session.lastUpdateTime = event.timestamp;
      return event;
    }
  }

  const keepShared = async (key: Key, shared: WithoutTemporary): Promise<void> => {
    for (const [prefix, at] of [
      ["app:", appStateKey(key.appName)],
      ["user:", await keyOf(desk, key, "state", STATE_CHANNEL)],
    ] as const) {
      const item = Object.fromEntries(Object.entries(shared).filter(([name]) => name.startsWith(prefix)));
      if (Object.keys(item).length > 0) await log.append(at, [{ role: "system", text: "", item }]);
    }
  };
  return new MaitredSessionService() as unknown as InstanceType<Base>;
}

async function sessionsOf(desk: Desk, key: Key): Promise<AdkSession[]> {
  return (await desk.log.list(await desk.owner(key), `${channelOf("adk", key)}/`)).map(({ name, session }) => ({
    ...{ id: name, appName: key.appName, userId: key.userId, state: {}, events: [] },
    lastUpdateTime: Date.parse(session.updated_at),
  }));
}

/** @throws INVALID_REQUEST where a `user` of one's own hides them */
async function usersOf({ log, tellsUsers }: Desk, appName: string): Promise<string[]> {
  if (!tellsUsers)
    throw new AppError("INVALID_REQUEST", {
      detail: "The sessions of all users can't be listed with a `user` of one's own.",
      hint: "Name a user.",
    });
  const owners = [...(await log.owners())].map(parseOwner);
  return owners.flatMap(({ tenant, user }) => (tenant === `${TENANT}${appName}` ? [user] : [])).sort();
}
