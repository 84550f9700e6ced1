import type { Span } from "../../domain/compared-words.js";

/** Spans in order, those that touch made one. */
export function united(spans: readonly Span[]): readonly Span[] {
  const ordered = [...spans].sort((a, b) => a.start - b.start);
  const out: { start: number; end: number }[] = [];
  for (const { start, end } of ordered) {
    const last = out.at(-1);
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end);
    else out.push({ start, end });
  }
  return out;
}

/** What of the span none of the others covers, as text; a space where something was left out. `others` are {@link united}. */
export function textOutside(text: string, span: Span, others: readonly Span[]): string {
  const parts: string[] = [];
  let at = span.start;
  for (const other of others) {
    if (other.end <= at || other.start >= span.end) continue;
    parts.push(text.slice(at, Math.max(at, other.start)));
    at = other.end;
  }
  if (at < span.end) parts.push(text.slice(at, span.end));
  return parts.join(" ");
}

export function overlaps(a: Span, b: Span): boolean {
  return a.start < b.end && b.start < a.end;
}
