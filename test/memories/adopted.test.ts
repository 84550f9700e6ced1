import { describe, expect, test } from "vitest";
import { CONCIERGE_CATEGORIES } from "../../packages/concierge/src/categories.js";
import { textHash } from "../../src/domain/folded-text.js";
import type { MemoryRecord } from "../../src/domain/memory-record.js";
import { ownerOf } from "../../src/domain/owner.js";
import { adoptedRecords } from "../../src/memories/merging.js";
import { MAX_WAITING, reconcileAdopted } from "../../src/memories/reconcile.js";
import type { ReconcileRules } from "../../src/memories/reconciled.js";
import { madeByCode } from "../../src/memories/statement-record.js";

const NOW = new Date("2026-03-10T12:00:00.000Z");
const FROM = ownerOf("default", "visitor");
const TO = ownerOf("default", "ada");
const USERS = { id: "merge", from: FROM, to: TO, at: NOW.toISOString() };

const rules = (more: Partial<ReconcileRules> = {}): ReconcileRules => ({
  now: NOW,
  minConfidence: 0.6,
  categories: CONCIERGE_CATEGORIES,
  tombstones: [],
  hash: (text, of = TO) => textHash(of, text),
  ...more,
});

let count = 0;
/** Said on a day of March in a message of its own. */
function said(text: string, day: number, more: Partial<MemoryRecord> = {}): MemoryRecord {
  count += 1;
  const id = `00000000-0000-7000-8000-${String(count).padStart(12, "0")}`;
  const at = `2026-03-${String(day).padStart(2, "0")}T10:00:00.000Z`;
  const made = madeByCode({ id, text, category: "other", aspect: "", type: "preference", explicit: true, entities: [], tags: [] }, at, NOW);
  const source = { session_id: "s", turn: count, message_id: `m${count}`, quote: text };
  return { ...made, source, stated_at: at, valid_from: at, last_confirmed_at: at, ...more };
}

function merged(own: readonly MemoryRecord[], theirs: readonly MemoryRecord[], more: Partial<ReconcileRules> = {}) {
  const outcome = reconcileAdopted(own, adoptedRecords(USERS, theirs), rules(more));
  const records = new Map([...own, ...outcome.puts].map((record) => [record.id, record]));
  const texts = (status: string) =>
    [...records.values()]
      .filter((record) => record.status === status)
      .map(({ text }) => text)
      .sort();
  return { ...outcome, records: [...records.values()], active: texts("active"), waiting: texts("review"), past: texts("superseded") };
}

describe("[merge-whole] what is taken over from another user", () => {
  test("is added; the same confirms what is there, by each message that said it, and changes nothing when it is told again", () => {
    const own = said("Prefers jazz", 3);
    const theirs = [said("prefers JAZZ!", 1, { confirmed_by: ["again"], seen_count: 2 }), said("Likes aisles", 2)];
    const { active, records } = merged([own], theirs);
    expect(active).toEqual(["Likes aisles", "Prefers jazz"]);
    const jazz = records.find(({ id }) => id === own.id);
    expect(jazz).toMatchObject({ seen_count: 3, confirmed_by: [theirs[0]?.source?.message_id, "again"] });
    expect(merged(records, theirs).puts).toEqual([]);
    // Of the session as it is called now.
    expect(records.find(({ text }) => text === "Likes aisles")?.source?.session_id).not.toBe("s");
  });

  test("of what holds one value the newest holds, whoever said it; hard ones stand side by side", () => {
    const size = { category: "party_size", aspect: "party size" };
    expect(merged([said("Books for two", 1, size)], [said("Books for four", 2, size)])).toMatchObject({
      active: ["Books for four"],
      past: ["Books for two"],
    });
    expect(merged([said("Books for two", 2, size)], [said("Books for four", 1, size)])).toMatchObject({ active: ["Books for two"] });
    const hard = { strength: "hard", category: "dietary", aspect: "diet" } as const;
    const both = merged([said("Is vegan", 1, { ...hard, need: "vegan" })], [said("Is allergic to nuts", 2, { ...hard, need: "no_nuts" })]);
    expect(both.active).toEqual(["Is allergic to nuts", "Is vegan"]);
    const firm = merged([said("Avoids nuts", 2)], [said("Avoids nuts", 1, { ...hard, need: "no_nuts" })]);
    expect(firm.records.filter(({ status, strength }) => status === "active" && strength === "hard")).toHaveLength(1);
  });

  test("waits where it waited, within the cap; what is past stays so, with what stands in its place", () => {
    const waiting = Array.from({ length: MAX_WAITING }, (_, at) => said(`Likes ${at}`, 1, { status: "review", reason: "unsure" }));
    const full = merged(waiting.slice(0, 15), waiting.slice(10).concat(said("Likes one more", 2, { status: "review", reason: "unsure" })));
    expect(full.waiting).toHaveLength(MAX_WAITING);
    expect(full.dropped).toEqual({ known: 5, too_many_waiting: 1 });
    const newer = said("Lives in Hamburg", 2);
    const older = said("Lives in Berlin", 1, { status: "superseded", superseded_by: newer.id });
    const { records, past } = merged([], [newer, older]);
    expect(past).toEqual(["Lives in Berlin"]);
    expect(records.find(({ status }) => status === "superseded")?.superseded_by).toBe(
      records.find(({ status }) => status === "active")?.id,
    );
  });

  test("stays forgotten by the words of either, and counts again where it was said since", () => {
    const gone = { memoryId: "x", messageIds: [], textHash: textHash(TO, "likes opera"), at: "2026-03-05T00:00:00.000Z" };
    const carried = { ...gone, memoryId: "y", textHash: textHash(FROM, "likes jazz"), hashOf: FROM };
    const theirs = [said("Likes opera", 4), said("Likes jazz", 4), said("Likes jazz", 6)];
    expect(merged([], theirs, { tombstones: [gone, carried] })).toMatchObject({ active: ["Likes jazz"], dropped: { forgotten: 2 } });
  });
});
