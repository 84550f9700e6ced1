import type { Context } from "hono";
import { parseAccept } from "hono/utils/accept";
import { AppError } from "../platform/errors.js";

/** How much the `Accept` header wants an answer of this type, from 0, not at all, to 1 (RFC 9110, 12.5.1; no header: anything). */
function quality(header: string | undefined, type: string): number {
  if (header === undefined || header.trim() === "") return 1;
  const [family] = type.split("/");
  const ranked = parseAccept(header)
    .map((entry) => ({ range: entry.type.toLowerCase(), q: entry.q }))
    .filter(({ range }) => range === type || range === `${family}/*` || range === "*/*")
    .sort((a, b) => specificity(b.range) - specificity(a.range));
  return ranked[0]?.q ?? 0;
}

function specificity(range: string): number {
  return range === "*/*" ? 0 : range.endsWith("/*") ? 1 : 2;
}

/** @throws NOT_ACCEPTABLE */
export function requireAccept(c: Context, type: string): void {
  if (quality(c.req.header("Accept"), type) === 0) throw new AppError("NOT_ACCEPTABLE");
}

/** That of the types which the client wants most; of equals the first. @throws NOT_ACCEPTABLE */
export function preferredType<T extends string>(c: Context, types: readonly T[]): T {
  const ranked = types
    .map((type) => ({ type, q: quality(c.req.header("Accept"), type) }))
    .filter(({ q }) => q > 0)
    .sort((a, b) => b.q - a.q);
  const [best] = ranked;
  if (best === undefined) throw new AppError("NOT_ACCEPTABLE");
  return best.type;
}
