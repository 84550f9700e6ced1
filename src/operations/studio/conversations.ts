import { type Owner, ownerOf, parseOwner } from "../../domain/owner.js";
import type { Session } from "../../domain/session.js";
import { eachInParallel } from "../../platform/bounded-parallel.js";
import { AppError } from "../../platform/errors.js";
import { isId } from "../../platform/ids.js";
import type { ConversationList, ConversationNotes, ConversationQuery, ListedConversation } from "../../ports/conversation-list.js";
import type { OwnerLedger } from "../../ports/owner-ledger.js";
import type { Page, SessionStore } from "../../ports/session-store.js";
import type { ConversationName, PageQuery } from "../../ports/studio.js";
import type { ConversationDetail, ConversationRow } from "../../ports/studio-views.js";
import type { AuditedLooks, ShowText } from "./looks.js";
import { isHidden, type JournalledTurn, turnRow, turnsOf } from "./turns-read.js";

export interface ConversationsParts {
  readonly list: ConversationList;
  readonly store: Pick<SessionStore, "index" | "journal">;
  readonly ledger: Pick<OwnerLedger, "tombstones">;
  readonly show: ShowText;
  readonly looks: AuditedLooks;
}

/** As many as a pool has connections: each look at a session is a round trip. */
const LOOKED_AT_ONCE = 20;
const CURSOR = /^[1-9]\d{0,8}$/u;

/** Conversations of all users, and one of them with its turns. */
export class Conversations {
  readonly #parts: ConversationsParts;

  constructor(parts: ConversationsParts) {
    this.#parts = parts;
  }

  async page(query: ConversationQuery): Promise<Page<ConversationRow>> {
    const { list, store, looks } = this.#parts;
    await looks.atAll("conversations");
    const { data, nextCursor } = await list.list(query);
    const rows: (ConversationRow | null)[] = data.map(() => null);
    const look = async ([place, { owner, sessionId, notes }]: [number, ListedConversation]) => {
      const session = await store.index.get(owner, sessionId);
      if (session !== null) rows[place] = this.#row(owner, session, notes);
      else list.touched(owner, sessionId);
    };
    await eachInParallel([...data.entries()], look, LOOKED_AT_ONCE);
    return { data: rows.filter((row) => row !== null), nextCursor };
  }

  async one(name: ConversationName, { limit, cursor }: PageQuery): Promise<ConversationDetail> {
    const { list, store, ledger, show, looks } = this.#parts;
    if (cursor !== undefined && !CURSOR.test(cursor)) throw new AppError("INVALID_CURSOR");
    const { owner, session } = await sessionNamed(store, name);
    await looks.at(owner, "conversation");
    const before = cursor === undefined ? {} : { before: Number(cursor) };
    const [tombstones, notes, { turns, more }] = await Promise.all([
      ledger.tombstones(owner),
      list.notes(owner, session.id),
      turnsOf(store.journal.newestFirst(owner, session.id), { limit, ...before }),
    ]);
    const { turns: turn_count, ...row } = this.#row(owner, session, notes);
    const last = turns.at(-1);
    return {
      ...row,
      turn_count,
      turns: turns.map((turn) => turnRow(turn, isHidden(turn, tombstones), show)),
      next_cursor: more && last !== undefined ? String(last.turn) : null,
    };
  }

  #row(owner: Owner, session: Session, notes: ConversationNotes | null): ConversationRow {
    const { title, status, updated_at, usage, write_back } = session;
    return {
      ...parseOwner(owner),
      session_id: session.id,
      ...this.#parts.show("title", session.metadata.incognito === true ? null : title),
      status,
      turns: notes?.turns ?? null,
      last_active_at: updated_at,
      cost: usage.cost ?? null,
      tokens: usage.total.input + usage.total.output,
      memory_status: notes?.memory_status ?? null,
      failed_turns: (notes?.failed ?? 0) + write_back.failed_turns,
      pending_turns: write_back.pending_turns,
    };
  }
}

/** @throws as {@link sessionNamed}, NOT_FOUND for a turn that it doesn't have */
export async function turnNamed(
  store: ConversationsParts["store"],
  name: ConversationName,
  turn: number,
): Promise<{ readonly owner: Owner; readonly session: Session; readonly journalled: JournalledTurn }> {
  const { owner, session } = await sessionNamed(store, name);
  const [journalled] = (await turnsOf(store.journal.newestFirst(owner, session.id), { limit: 1, before: turn + 1 })).turns;
  if (journalled?.turn !== turn) throw new AppError("NOT_FOUND");
  return { owner, session, journalled };
}

/** @throws SESSION_NOT_FOUND, INVALID_USER_ID */
async function sessionNamed(
  { index }: Pick<SessionStore, "index">,
  { tenant, user, sessionId }: ConversationName,
): Promise<{ readonly owner: Owner; readonly session: Session }> {
  const owner = ownerOf(tenant, user);
  const session = isId(sessionId) ? await index.get(owner, sessionId) : null;
  if (session === null) throw new AppError("SESSION_NOT_FOUND");
  return { owner, session };
}
