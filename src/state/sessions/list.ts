import { createHash } from "node:crypto";
import { z } from "zod";
import type { Owner } from "../../domain/owner.js";
import type { Session } from "../../domain/session.js";
import { AppError } from "../../platform/errors.js";
import { isId } from "../../platform/ids.js";
import type { Page, SessionQuery } from "../../ports/session-store.js";
import { prefixRange, type StateEngine } from "../engine.js";
import type { SessionState } from "../journal/session-fold.js";
import { ownerPartition } from "../partition.js";
import { rowsIn } from "../stored-rows.js";
import { activitiesOf, activityKey, activityOf, jobsOf, sessionRange } from "./keys.js";
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
  return createHash("sha256").update(sealed).digest("hex").slice(0, 16);
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
