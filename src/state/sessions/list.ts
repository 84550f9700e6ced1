import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { Owner } from "../../domain/owner.js";
import type { Session } from "../../domain/session.js";
import { AppError } from "../../platform/errors.js";
import { isId } from "../../platform/ids.js";
import type { IdempotencyEntry, Page, SessionIndex, SessionQuery } from "../../ports/session-store.js";
import { committed } from "../durable-commit.js";
import { prefixRange, type StateEngine } from "../engine.js";
import type { SessionState } from "../journal/session-fold.js";
import { ownerPartition } from "../partition.js";
import { jsonOf, rowsIn } from "../stored-rows.js";
import { type ActivityRow, IDEMPOTENCY_MS } from "./index-write.js";
import { activitiesOf, activityKey, activityOf, jobsOf, REQUESTS, requestKey, sessionRange, TRASH } from "./keys.js";
import { ownerPages } from "./owners.js";
import { emptyTrash } from "./remove.js";
import { headOf } from "./session-row.js";
import { type StoredJob, storedJob } from "./turn-job.js";

const positionSchema = z.tuple([z.string(), z.string()]);

/** Where a page ended. */
interface ListPosition {
  readonly updatedAt: string;
  readonly id: string;
}

/** A position as text that is good for the same owner and filters only. It gives nothing away: every query is by owner. */
function encodeCursor(owner: Owner, query: SessionQuery, { updatedAt, id }: ListPosition): string {
  const position = Buffer.from(JSON.stringify([updatedAt, id])).toString("base64url");
  return `${position}.${seal(owner, query, position)}`;
}

/** @throws INVALID_CURSOR */
function decodeCursor(owner: Owner, query: SessionQuery, cursor: string): ListPosition {
  const [position, mark] = cursor.split(".");
  if (position === undefined || mark !== seal(owner, query, position)) throw new AppError("INVALID_CURSOR");
  try {
    const [updatedAt, id] = positionSchema.parse(JSON.parse(Buffer.from(position, "base64url").toString("utf8")));
    return { updatedAt, id };
  } catch (cause) {
    throw new AppError("INVALID_CURSOR", { cause });
  }
}

function seal(owner: Owner, { status = "active", tag, title }: SessionQuery, position: string): string {
  const sealed = JSON.stringify([owner, status, tag ?? null, title ?? null, position]);
  return hash("sha256", sealed).slice(0, 16);
}

const DEFAULT_LIST_LIMIT = 20;
const MAX_LIST_LIMIT = 200;

/** @throws INVALID_REQUEST for one that is not 1 to 200. */
export function listLimit(limit: number | undefined): number {
  if (limit === undefined) return DEFAULT_LIST_LIMIT;
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIST_LIMIT) return limit;
  throw new AppError("INVALID_REQUEST", {
    errors: [{ pointer: "/limit", detail: `A whole number from 1 to ${MAX_LIST_LIMIT}.` }],
  });
}

/** Titles are compared without regard to case and to how a character was typed. */
function foldedTitle(title: string): string {
  return title.normalize("NFKC").toLowerCase();
}

function fits({ title, tags }: Session, query: Pick<SessionQuery, "tag" | "title">): boolean {
  const tagged = query.tag === undefined || tags.includes(query.tag);
  return tagged && (query.title === undefined || foldedTitle(title ?? "").includes(foldedTitle(query.title)));
}

function positionOf({ updated_at: updatedAt, id }: Session): ListPosition {
  return { updatedAt: new Date(updatedAt).toISOString(), id };
}

/** Sessions looked at together where title and tag are asked for. */
const FILTERED_PAGE = 200;

/** A page of an owner's sessions: a range of their order, then their rows. @throws INVALID_REQUEST, INVALID_CURSOR */
export async function listSessions(engine: StateEngine, owner: Owner, query: SessionQuery): Promise<Page<Session>> {
  const { status = "active" } = query;
  const limit = listLimit(query.limit);
  const most = query.tag === undefined && query.title === undefined ? limit + 1 : FILTERED_PAGE;
  const { from, to } = prefixRange(activitiesOf(status));
  const found: Session[] = [];
  for (let after = query.cursor === undefined ? null : decodeCursor(owner, query, query.cursor); found.length <= limit; ) {
    const before = after === null ? to : activityKey({ status, updated_at: after.updatedAt, id: after.id });
    const rows = await rowsIn(engine, ownerPartition(owner), { from, to: before, limit: most, reverse: true });
    const ids = rows.map(({ key }) => activityOf(key).id);
    const sessions = (await readSessions(engine, owner, ids)).map(({ session }) => session);
    found.push(...sessions.filter((session) => fits(session, query)));
    const last = rows.at(-1);
    if (last === undefined || rows.length < most) break;
    after = activityOf(last.key);
  }
  const data = found.slice(0, limit);
  const last = data.at(-1);
  return { data, nextCursor: found.length > limit && last !== undefined ? encodeCursor(owner, query, positionOf(last)) : null };
}

/** Sessions read in one step: two ranges each. */
const TOGETHER = 50;

interface ReadSession {
  readonly session: Session;
  readonly state: SessionState;
}

/** Those that the owner has, in the order of the ids. */
export async function readSessions(engine: StateEngine, owner: Owner, ids: readonly string[]): Promise<readonly ReadSession[]> {
  const found: ReadSession[] = [];
  const valid = ids.filter(isId);
  for (let at = 0; at < valid.length; at += TOGETHER) {
    const batch = valid.slice(at, at + TOGETHER);
    const query = batch.flatMap((id) => [sessionRange(id), prefixRange(jobsOf(id))]);
    const { ranges } = await engine.read(ownerPartition(owner), { ranges: query });
    for (let place = 0; place < batch.length; place++) {
      const state = headOf(owner, ranges[2 * place] ?? [])?.state ?? null;
      if (state !== null) found.push({ session: sessionWith(state, (ranges[2 * place + 1] ?? []).map(storedJob)), state });
    }
  }
  return found;
}

function sessionWith({ session, statusSince }: SessionState, jobs: readonly StoredJob[]): Session {
  const failed = jobs.filter(({ job }) => job.state === "failed").length;
  return { ...session, status_since: statusSince, write_back: { pending_turns: jobs.length - failed, failed_turns: failed } };
}

/** Old requests looked for in a partition at once, from anywhere in it on. */
const REQUESTS_LOOKED_AT = 40;
/** Positions kept, each of a page's last session. */
const POSITIONS = 200;

/** So far writers' clocks may be from the engine's, in milliseconds. */
const CLOCKS_MS = 60 * 60 * 1000;

interface Candidate {
  readonly owner: Owner;
  readonly id: string;
  readonly sinceMs: number;
}

/** Sessions whose time may have come, found by going through all owners' lists; what is out of date there goes by the way. */
export class ExpiringSessions {
  readonly #engine: StateEngine;
  readonly #positions = new LRUCache<string, number>({ max: POSITIONS });

  constructor(engine: StateEngine) {
    this.#engine = engine;
  }

  /** Oldest first. Behind the session `after`, where it was found here before. */
  async find(query: Parameters<SessionIndex["expiring"]>[0]): Promise<readonly Candidate[]> {
    const { status, inactiveSince, expiresBefore, limit, after } = query;
    const [inactiveMs, expiresMs] = [Date.parse(inactiveSince), Date.parse(expiresBefore)];
    const sinceMs = after === undefined ? undefined : this.#positions.get(after);
    const position = after === undefined || sinceMs === undefined ? null : { id: after, sinceMs };
    let found: Candidate[] = [];
    for await (const page of ownerPages(this.#engine))
      for (const { partition, owner } of page) {
        for (const [id, row] of await this.#activities(partition, activitiesOf(status))) {
          const isDue = row.sinceMs < inactiveMs || (row.expiresMs !== null && row.expiresMs < expiresMs);
          const candidate = { owner, id, sinceMs: row.sinceMs };
          if (isDue && (position === null || byAge(candidate, position) > 0)) found.push(candidate);
        }
        if (found.length > 2 * limit) found = found.sort(byAge).slice(0, limit);
      }
    const oldest = found.sort(byAge).slice(0, limit);
    for (const { id, sinceMs: at } of oldest) this.#positions.set(id, at);
    return oldest;
  }

  async #activities(partition: string, prefix: string): Promise<readonly (readonly [string, ActivityRow])[]> {
    const somewhere = { ...prefixRange(REQUESTS), from: requestKey(String(Math.random())), limit: REQUESTS_LOOKED_AT };
    const query = { ranges: [prefixRange(prefix), { ...prefixRange(TRASH), limit: 1 }, somewhere] };
    const { ranges, nowMs } = await this.#engine.read(partition, query);
    const [activities = [], trash = [], requests = []] = ranges;
    if (trash.length > 0) await emptyTrash(this.#engine, partition);
    const old = requests.filter((row) => Date.parse(jsonOf<IdempotencyEntry>(row).at) < nowMs - IDEMPOTENCY_MS - CLOCKS_MS);
    const checks = old.map(({ key, version }) => ({ key, version }));
    if (checks.length > 0) await committed(this.#engine, partition, { checks, deletes: checks.map(({ key }) => key) });
    return activities.map((row) => [activityOf(row.key).id, jsonOf<ActivityRow>(row)] as const);
  }
}

function byAge(a: Pick<Candidate, "id" | "sinceMs">, b: Pick<Candidate, "id" | "sinceMs">): number {
  return a.sinceMs - b.sinceMs || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}
