import type { Owner } from "../../domain/owner.js";
import type { JournalRecord, Session, SessionStatus } from "../../domain/session.js";
import type { ContentCodec } from "../../ports/content-codec.js";
import type { OwnerActivity, OwnersQuery } from "../../ports/owner-activity.js";
import type {
  ClaimOptions,
  IdempotencyEntry,
  ListedSession,
  Page,
  PendingTurn,
  SessionIndex,
  SessionQuery,
} from "../../ports/session-store.js";
import type { RestoresPending } from "../../ports/transfer.js";
import type { AtomicSessionWrite } from "../journal/atomic-session-write.js";
import { keptFor } from "../journal/kept-content.js";
import type { SessionHeads } from "../journal/session-heads.js";
import { withoutGap } from "../sqlite-index/journal-gap.js";
import { decodeCursor, fits, listLimit, pageOf } from "../sqlite-index/list-cursor.js";
import type { SessionState } from "../sqlite-index/session-fold.js";
import { entryOf, sessionOf, stateOf } from "../sqlite-index/sqlite-index-rows.js";
import type { RedisDatabase } from "./database.js";
import type { DueTurns } from "./due-turns.js";
import type { ExpiringSessions } from "./expiring-sessions.js";
import { externalMember, externalPrefix, idempotencyField } from "./index-commands.js";
import { ERASE_INDEXED, LISTED, REMOVE_INDEXED, VIEWS } from "./index-scripts.js";
import { type Keys, keysOf } from "./keys.js";
import type { OwnerRegistry } from "./owner-registry.js";
import { ownersPage } from "./owners-page.js";
import type { RedisJournal } from "./redis-journal.js";
import type { RedisHead } from "./session-heads.js";
import type { SessionOwners } from "./session-owners.js";
import { IDEMPOTENCY_MS } from "./write-script.js";

/** Sessions looked at together where a filter may leave most of them out. */
const FILTERED_PAGE = 200;

interface View {
  readonly state: string;
  readonly pending: number;
  readonly failed: number;
}

export interface SessionIndexParts {
  readonly database: RedisDatabase;
  readonly write: AtomicSessionWrite<RedisHead>;
  readonly heads: SessionHeads<RedisHead>;
  readonly journal: RedisJournal;
  readonly owners: SessionOwners;
  readonly registry: OwnerRegistry;
  readonly due: DueTurns;
  readonly expiring: ExpiringSessions;
  readonly codec: ContentCodec | null;
  readonly now: () => number;
}

/** What sessions look like, in keys that every write of a journal brings up to date with it. */
export class RedisSessionIndex implements SessionIndex, RestoresPending {
  readonly #parts: SessionIndexParts;
  readonly #database: RedisDatabase;

  constructor(parts: SessionIndexParts) {
    this.#parts = parts;
    this.#database = parts.database;
  }

  /** Has nothing to do for records that a journal's write brought; folds what a cleared index lacks. */
  async apply(owner: Owner, sessionId: string, records: readonly JournalRecord[]): Promise<void> {
    const { heads, journal, write } = this.#parts;
    const last = records.at(-1);
    const known = heads.known(owner, sessionId);
    if (last !== undefined && (known?.state?.indexedSeq ?? 0) >= last.seq) return;
    const head = await heads.read(owner, sessionId);
    const read = (...[of, id, fromSeq]: readonly [Owner, string, number]) => journal.read(of, id, { fromSeq, includeRewound: true });
    for await (const batch of withoutGap(owner, sessionId, head.state?.indexedSeq ?? 0, records, read))
      await write.fold(owner, sessionId, batch);
  }

  async indexedSeq(sessionId: string): Promise<number> {
    const tag = await this.#parts.owners.tagOf(sessionId);
    if (tag === null) return 0;
    return Number((await this.#database.command("HGET", keysOf(this.#database.prefix, tag).indexed, sessionId)) ?? 0);
  }

  async get(owner: Owner, sessionId: string): Promise<Session | null> {
    const [view] = await this.#views(this.#database.keys(owner), [sessionId]);
    return view == null ? null : sessionOf(view, await keptFor(this.#parts.codec, owner));
  }

  async findByExternalId(owner: Owner, externalId: string): Promise<Session | null> {
    const prefix = externalPrefix(externalId);
    const range = ["ZRANGEBYLEX", this.#database.keys(owner).external, `[${prefix}`, `(${prefix}~`, "LIMIT", 0, 1] as const;
    const [member] = (await this.#database.command(...range)) as readonly string[];
    return member === undefined ? null : this.get(owner, member.slice(prefix.length));
  }

  async list(owner: Owner, query: SessionQuery): Promise<Page<Session>> {
    const limit = listLimit(query.limit);
    const after = query.cursor === undefined ? null : decodeCursor(owner, query, query.cursor);
    const keys = this.#database.keys(owner);
    const listed = keys[`listed:${query.status ?? "active"}`];
    const page = query.tag === undefined && query.title === undefined ? limit + 1 : FILTERED_PAGE;
    const kept = await keptFor(this.#parts.codec, owner);
    const data: Session[] = [];
    let position = after === null ? (["0", ""] as const) : ([String(Date.parse(after.updatedAt)), after.id] as const);
    for (let more = true; more && data.length <= limit; ) {
      const found = (await this.#database.run(LISTED, { listed }, ...position, page)) as readonly string[];
      const ids = found.filter((_, at) => at % 2 === 0);
      const views = (await this.#views(keys, ids)).filter((view) => view !== null);
      data.push(...views.map((view) => sessionOf(view, kept)).filter((session) => fits(session, query)));
      more = ids.length === page;
      position = [found.at(-1) ?? "0", ids.at(-1) ?? ""];
    }
    return pageOf(owner, query, data);
  }

  /** An owner's sessions stand together, so that one owner costs a look of their own. */
  async *pages(size: number): AsyncGenerator<readonly ListedSession[]> {
    let page: ListedSession[] = [];
    for await (const owner of this.#parts.registry.owners()) {
      const { states } = this.#database.keys(owner);
      const kept = await keptFor(this.#parts.codec, owner);
      for (let cursor = ""; cursor !== "0"; ) {
        const scan = ["HSCAN", states, cursor === "" ? "0" : cursor, "COUNT", size] as const;
        const [next, found] = (await this.#database.command(...scan)) as readonly [string, readonly string[]];
        cursor = next;
        page.push(...found.flatMap((state, at) => (at % 2 === 1 ? [{ owner, session: stateOf(state, kept).session }] : [])));
        for (; page.length >= size; page = page.slice(size)) yield page.slice(0, size);
      }
    }
    if (page.length > 0) yield page;
  }

  owners(query: OwnersQuery): Promise<Page<OwnerActivity>> {
    return ownersPage(this.#parts, query);
  }

  async findIdempotent(owner: Owner, key: string, now: Date): Promise<IdempotencyEntry | null> {
    const kept = await this.#database.command("HGET", this.#database.keys(owner).idempotency, idempotencyField(key));
    if (kept === null) return null;
    const [atMs, , entry] = JSON.parse(String(kept)) as readonly [number, string, string];
    return atMs > now.getTime() - IDEMPOTENCY_MS ? entryOf(entry) : null;
  }

  due(nowMs: number, limit: number, { except = [] }: { readonly except?: readonly Owner[] } = {}): Promise<readonly PendingTurn[]> {
    return this.#parts.due.find(nowMs, limit, { except, leaseMs: 0 });
  }

  claim(nowMs: number, limit: number, claim: ClaimOptions): Promise<readonly PendingTurn[]> {
    return this.#parts.due.find(nowMs, limit, claim);
  }

  renewClaim(turn: PendingTurn, leaseMs: number): Promise<string | null> {
    return this.#parts.due.renewClaim(turn, leaseMs);
  }

  letGo(turn: Pick<PendingTurn, "owner" | "sessionId" | "turn" | "claim">): Promise<void> {
    return this.#parts.due.letGo(turn);
  }

  unclaimed(owner: Owner, options: { readonly sessionId?: string; readonly signal: AbortSignal }): Promise<void> {
    return this.#parts.due.unclaimed(owner, options);
  }

  pendingOf(owner: Owner, sessionId?: string): Promise<readonly PendingTurn[]> {
    return this.#parts.due.of(owner, sessionId);
  }

  pendingCounts(): Promise<{ readonly pending: number; readonly failed: number }> {
    return this.#parts.due.counts();
  }

  oldestPendingAtMs(): Promise<number | null> {
    return this.#parts.due.oldestAtMs();
  }

  recordAttempt(...attempt: Parameters<SessionIndex["recordAttempt"]>): Promise<void> {
    return this.#parts.due.recordAttempt(...attempt);
  }

  restorePending(turn: PendingTurn): Promise<void> {
    return this.#parts.due.restore(turn);
  }

  retryFailed(owner: Owner, sessionId: string): Promise<number> {
    return this.#parts.due.retryFailed(owner, sessionId, this.#parts.now());
  }

  async expiring(query: Parameters<SessionIndex["expiring"]>[0]): ReturnType<SessionIndex["expiring"]> {
    const found = await this.#parts.expiring.find(query);
    const views = await Promise.all(found.map(({ keys, sessionId }) => this.#views(keys, [sessionId])));
    const sessions = await Promise.all(
      found.map(async ({ owner: name }, at) => {
        const view = views[at]?.[0];
        if (view == null) return [];
        const owner = name as Owner;
        const kept = await keptFor(this.#parts.codec, owner);
        const { statusSince, statusBeforeDelete } = stateOf(view.state, kept);
        return [{ owner, session: sessionOf(view, kept), statusSince, statusBeforeDelete }];
      }),
    );
    return sessions.flat();
  }

  async statusBeforeDelete(owner: Owner, sessionId: string): Promise<SessionStatus | null> {
    const state = await this.#state(owner, sessionId);
    return state?.statusBeforeDelete ?? null;
  }

  async remove(owner: Owner, sessionId: string): Promise<void> {
    this.#parts.heads.forget(sessionId);
    const state = await this.#state(owner, sessionId);
    if (state === null) return;
    const { external_id: externalId } = state.session;
    const member = externalId === null ? "" : externalMember(externalId, sessionId);
    await this.#database.run(REMOVE_INDEXED, this.#database.keys(owner, sessionId), sessionId, member);
  }

  async clear(): Promise<void> {
    for await (const owner of this.#parts.registry.owners()) await this.#erase(owner);
  }

  async erase(owner: Owner): Promise<{ readonly sessions: number; readonly idempotencyKeys: number; readonly pendingTurns: number }> {
    const erased = await this.#erase(owner);
    await this.#parts.registry.leave(owner);
    return erased;
  }

  async residue(owner: Owner): Promise<number> {
    const { states, pending, failed, idempotency } = this.#database.keys(owner);
    const left = await Promise.all([states, pending, failed, idempotency].map((key) => this.#database.command("HLEN", key)));
    return left.reduce<number>((sum, each) => sum + Number(each), 0);
  }

  async #erase(owner: Owner) {
    this.#parts.heads.clear();
    const keys = this.#database.keys(owner);
    // While their sessions are known: those of a crash between are found again.
    for (const sessionId of (await this.#database.command("HKEYS", keys.states)) as readonly string[]) {
      const { standings, texts } = this.#database.keys(owner, sessionId);
      await this.#database.command("UNLINK", standings, texts);
    }
    const [sessions = 0, idempotencyKeys = 0, pendingTurns = 0] = (await this.#database.run(ERASE_INDEXED, keys)) as readonly number[];
    return { sessions, idempotencyKeys, pendingTurns };
  }

  async #state(owner: Owner, sessionId: string): Promise<SessionState | null> {
    const state = (await this.#database.command("HGET", this.#database.keys(owner).states, sessionId)) as string | null;
    return state === null ? null : stateOf(state, await keptFor(this.#parts.codec, owner));
  }

  async #views(keys: Keys, ids: readonly string[]): Promise<readonly (View | null)[]> {
    if (ids.length === 0) return [];
    const reply = (await this.#database.run(VIEWS, keys, ...ids)) as readonly string[];
    return ids.map((_, at) => {
      const [state = "", pending, failed] = reply.slice(3 * at, 3 * at + 3);
      return state === "" ? null : { state, pending: Number(pending), failed: Number(failed) };
    });
  }
}
