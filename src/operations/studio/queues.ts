import { ownerOf, parseOwner } from "../../domain/owner.js";
import type { Clock } from "../../platform/clock.js";
import { AppError } from "../../platform/errors.js";
import type { Sessions } from "../../ports/application.js";
import type { Page, PendingTurn, SessionStore } from "../../ports/session-store.js";
import type { ConversationName, PageQuery } from "../../ports/studio.js";
import type { QueuedWriteBack, QueueState } from "../../ports/studio-views.js";
import type { AuditedLooks } from "./looks.js";

export interface QueuesParts {
  readonly store: Pick<SessionStore, "index" | "turns">;
  readonly sessions: Pick<Sessions, "retryWriteBack">;
  /** Null where no event is delivered. */
  readonly deliveries: (() => Promise<{ readonly waiting: number; readonly dead: number }>) | null;
  readonly looks: AuditedLooks;
  readonly clock: Clock;
}

/** What is to be done behind answers, and what was given up. */
export class Queues {
  readonly #parts: QueuesParts;

  constructor(parts: QueuesParts) {
    this.#parts = parts;
  }

  async all(): Promise<readonly QueueState[]> {
    const { store, deliveries, clock } = this.#parts;
    const [turns, oldest, events] = await Promise.all([store.turns.ofAll(), store.turns.oldestAtMs(), deliveries?.()]);
    const now = clock.now().getTime();
    const pending = turns.filter(({ state }) => state === "pending");
    const due = pending.filter(({ dueAtMs }) => dueAtMs <= now).length;
    const writeBack: QueueState = {
      name: "write_back",
      due,
      waiting: pending.length - due,
      failed: turns.length - pending.length,
      oldest_at: oldest === null ? null : new Date(oldest).toISOString(),
    };
    if (events === undefined) return [writeBack];
    return [writeBack, { name: "webhooks", due: null, waiting: events.waiting, failed: events.dead, oldest_at: null }];
  }

  async writeBacks({ state, limit, cursor }: PageQuery & { readonly state?: "pending" | "failed" }): Promise<Page<QueuedWriteBack>> {
    const turns = (await this.#parts.store.turns.ofAll())
      .filter((turn) => state === undefined || turn.state === state)
      .map((turn) => ({ turn, place: placeOf(turn) }))
      .toSorted((a, b) => (a.place < b.place ? -1 : 1));
    const after = cursor === undefined ? "" : Buffer.from(cursor, "base64url").toString("utf8");
    if (cursor !== undefined && !after.includes(" ")) throw new AppError("INVALID_CURSOR");
    const behind = turns.filter(({ place }) => place > after);
    const page = behind.slice(0, limit);
    const last = page.at(-1);
    return {
      data: page.map(({ turn }) => rowOf(turn)),
      nextCursor: behind.length > limit && last !== undefined ? Buffer.from(last.place).toString("base64url") : null,
    };
  }

  async retry({ tenant, user, sessionId }: ConversationName): Promise<void> {
    const owner = ownerOf(tenant, user);
    if ((await this.#parts.store.index.get(owner, sessionId)) === null) throw new AppError("SESSION_NOT_FOUND");
    await this.#parts.looks.at(owner, "retry");
    await this.#parts.sessions.retryWriteBack(owner, sessionId);
  }
}

/** The one that has waited longest first; no two are the same. */
function placeOf({ dueAtMs, owner, sessionId, turn }: PendingTurn): string {
  return `${String(dueAtMs).padStart(16, "0")} ${owner} ${sessionId} ${String(turn).padStart(9, "0")}`;
}

function rowOf({ owner, sessionId, turn, state, attempts, errorCode, dueAtMs }: PendingTurn): QueuedWriteBack {
  const due_at = new Date(dueAtMs).toISOString();
  return { ...parseOwner(owner), session_id: sessionId, turn, state, attempts, error_code: errorCode, due_at };
}
