import { acrossCategories } from "./ranking.js";
import type { MemoryRecord } from "./record.js";

export interface ProfileOptions {
  /** Default 300. Hard constraints stand in it whatever it says. */
  readonly maxTokens: number;
  /** Standing preferences at most. Default 12. */
  readonly limit: number;
  readonly categoryOrder: readonly string[];
}

export const PROFILE_DEFAULTS = { maxTokens: 300, limit: 12 } as const;

const COMPANION = "companion:";
const HEADINGS = { hard: "Must hold", soft: "Usually", companions: "Companions" } as const;

/**
 * A short summary of the user, kept by code: hard constraints, top standing preferences, companions. The empty string where
 * there is nothing. It depends on the memories alone, not on the time or their order, so that a prompt that starts
 * with it stays the same from turn to turn until a memory changes: preferences are chosen by how often and how lately they
 * were said, without decay.
 */
export function profileOf(hard: readonly MemoryRecord[], standing: readonly MemoryRecord[], options: ProfileOptions): string {
  const place = (record: MemoryRecord) => {
    const index = options.categoryOrder.indexOf(record.category);
    return index === -1 ? options.categoryOrder.length : index;
  };
  const inOrder = (records: readonly MemoryRecord[]) =>
    [...records].sort(
      (a, b) =>
        subjectRank(a) - subjectRank(b) ||
        compare(a.subject, b.subject) ||
        place(a) - place(b) ||
        compare(a.text, b.text) ||
        compare(a.id, b.id),
    );
  const must = inOrder(hard).map(line);
  const chosen = acrossCategories(
    standing,
    options.limit,
    options.categoryOrder,
    (a, b) => b.seen_count - a.seen_count || compare(b.last_confirmed_at, a.last_confirmed_at) || compare(a.id, b.id),
  );
  const companions = [
    ...new Set([...hard, ...standing].flatMap((record) => (record.subject === "self" ? [] : [nameOf(record.subject)]))),
  ].sort(compare);

  const render = (kept: readonly MemoryRecord[]) =>
    [section(HEADINGS.hard, must), section(HEADINGS.soft, inOrder(kept).map(line)), section(HEADINGS.companions, companions)]
      .filter((text) => text !== "")
      .join("\n");
  let kept = chosen;
  while (kept.length > 0 && estimatedTokens(render(kept)) > options.maxTokens) kept = kept.slice(0, -1);
  return render(kept);
}

function section(heading: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : `${heading}: ${lines.join("; ")}`;
}

function line(record: MemoryRecord): string {
  const text = oneLine(record.text);
  return record.subject === "self" ? text : `${nameOf(record.subject)}: ${text}`;
}

function nameOf(subject: string): string {
  return oneLine(subject.startsWith(COMPANION) ? subject.slice(COMPANION.length) : subject);
}

function subjectRank(record: MemoryRecord): number {
  return record.subject === "self" ? 0 : 1;
}

/** One memory can't begin another line or section. */
function oneLine(text: string): string {
  return text
    .replace(/[\p{C}\s]+/gu, " ")
    .replaceAll(";", ",")
    .trim();
}

/** About four bytes of UTF-8 a token. */
function estimatedTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
