import type { Context } from "hono";
import { parseAccept } from "hono/utils/accept";
import { AppError } from "../platform/errors.js";

/** True when the `Accept` header lets the answer be of this type (RFC 9110, 12.5.1; no header: anything). */
function accepts(header: string | undefined, type: string): boolean {
  if (header === undefined || header.trim() === "") return true;
  const [family] = type.split("/");
  const ranked = parseAccept(header)
    .map((entry) => ({ range: entry.type.toLowerCase(), q: entry.q }))
    .filter(({ range }) => range === type || range === `${family}/*` || range === "*/*")
    .sort((a, b) => specificity(b.range) - specificity(a.range));
  return (ranked[0]?.q ?? 0) > 0;
}

function specificity(range: string): number {
  return range === "*/*" ? 0 : range.endsWith("/*") ? 1 : 2;
}

/** @throws NOT_ACCEPTABLE */
export function requireAccept(c: Context, type: string): void {
  if (!accepts(c.req.header("Accept"), type)) throw new AppError("NOT_ACCEPTABLE");
}
