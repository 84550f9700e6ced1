import { createHash } from "node:crypto";
import { z } from "zod";
import { AppError } from "../errors.js";
import type { Owner } from "../owner.js";
import type { SessionQuery } from "../session-store.js";

const positionSchema = z.tuple([z.string(), z.string()]);

/** Where a page ended. */
export interface ListPosition {
  readonly updatedAt: string;
  readonly id: string;
}

/** A position as text that is good for the same owner and filters only. It gives nothing away: every query is by owner. */
export function encodeCursor(owner: Owner, query: SessionQuery, { updatedAt, id }: ListPosition): string {
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
