import { createHash } from "node:crypto";
import { z } from "zod";
import type { Owner } from "../../domain/owner.js";
import type { Session } from "../../domain/session.js";
import { AppError } from "../../platform/errors.js";
import type { Page, SessionQuery } from "../../ports/session-store.js";

const positionSchema = z.tuple([z.string(), z.string()]);

/** Where a page ended. */
export interface ListPosition {
  readonly updatedAt: string;
  readonly id: string;
}

/** A position as text that is good for the same owner and filters only. It gives nothing away: every query is by owner. */
function encodeCursor(owner: Owner, query: SessionQuery, { updatedAt, id }: ListPosition): string {
  const position = Buffer.from(JSON.stringify([updatedAt, id])).toString("base64url");
  return `${position}.${seal(owner, query, position)}`;
}

/** @throws INVALID_CURSOR */
export function decodeCursor(owner: Owner, query: SessionQuery, cursor: string): ListPosition {
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
export function foldedTitle(title: string): string {
  return title.normalize("NFKC").toLowerCase();
}

/** For a store that can't ask for title and tag where its sessions lie. */
export function fits({ title, tags }: Session, query: Pick<SessionQuery, "tag" | "title">): boolean {
  const tagged = query.tag === undefined || tags.includes(query.tag);
  return tagged && (query.title === undefined || foldedTitle(title ?? "").includes(foldedTitle(query.title)));
}

function positionOf({ updated_at: updatedAt, id }: Session): ListPosition {
  return { updatedAt: new Date(updatedAt).toISOString(), id };
}

/** Sessions looked at together where title and tags can't be asked for. */
const FILTERED_PAGE = 200;

/** The sessions behind a position, in the order of the list, at most `most` of them. */
export type ReadSessions = (query: SessionQuery, after: ListPosition | null, most: number) => Promise<readonly Session[]>;

/**
 * A page of an owner's sessions, `read` with one more than it holds. `filters`: whether `read` heeds title and tag; else it is asked by
 * status alone. @throws INVALID_REQUEST, INVALID_CURSOR
 */
export async function listed(
  owner: Owner,
  query: SessionQuery,
  { filters, read }: { readonly filters: boolean; readonly read: ReadSessions },
): Promise<Page<Session>> {
  const { status = "active" } = query;
  const limit = listLimit(query.limit);
  const after = query.cursor === undefined ? null : decodeCursor(owner, query, query.cursor);
  const count = limit + 1;
  const sessions = await (filters
    ? read(query, after, count)
    : fitting(query, { after, count }, (position, most) => read({ status }, position, most)));
  return pageOf(owner, query, sessions);
}

/** A page of what was found, which is one more than the page holds where there is another. */
export function pageOf(owner: Owner, query: SessionQuery, found: readonly Session[]): Page<Session> {
  const limit = listLimit(query.limit);
  const data = found.slice(0, limit);
  const last = data.at(-1);
  const more = found.length > limit && last !== undefined;
  return { data, nextCursor: more ? encodeCursor(owner, query, positionOf(last)) : null };
}

/** The first `count` behind a position that fit, of pages that are filtered by status alone. */
async function fitting(
  query: SessionQuery,
  { after, count }: { readonly after: ListPosition | null; readonly count: number },
  pageAfter: (position: ListPosition | null, limit: number) => Promise<readonly Session[]>,
): Promise<readonly Session[]> {
  const found: Session[] = [];
  for (let position = after; found.length < count; ) {
    const page = await pageAfter(position, FILTERED_PAGE);
    found.push(...page.filter((session) => fits(session, query)));
    const last = page.at(-1);
    if (last === undefined || page.length < FILTERED_PAGE) break;
    position = positionOf(last);
  }
  return found.slice(0, count);
}
