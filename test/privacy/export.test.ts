import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { bookingReceiptSchema } from "../../src/domain/booking-receipt.js";
import {
  EXPORT_FORMAT,
  exportedMemorySchema,
  exportedSessionSchema,
  exportedTombstoneSchema,
  exportedUserSchema,
} from "../../src/domain/export-format.js";
import type { Owner } from "../../src/domain/owner.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { DomainRecords } from "../../src/ports/agent.js";
import { PrivacyService } from "../../src/privacy/privacy.js";
import { step } from "../support/rounds.js";
import { alice, bob, makeWorld, memoryFrom, strict, type World } from "../support/session-world.js";

/** The document as export-format.ts describes it; an unknown key anywhere is an error. */
const documentSchema = z.strictObject({
  format: z.literal(EXPORT_FORMAT),
  version: z.literal(1),
  exported_at: z.iso.datetime(),
  user: exportedUserSchema.nullable(),
  sessions: z.array(exportedSessionSchema.strict()),
  memories: z.array(exportedMemorySchema.strict()),
  forgotten: z.array(exportedTombstoneSchema.strict()),
  records: z.record(z.string(), z.array(z.json())),
  receipts: z.array(bookingReceiptSchema.strict()),
});

const bookings: DomainRecords = strict<DomainRecords>("bookings", {
  name: "bookings",
  async *export(owner: Owner) {
    if (owner === alice) yield { id: "b1", seats: 2 };
  },
});

function privacyOf(world: World): PrivacyService {
  const { store, history, longTerm, ledger, clock } = world;
  const hold = async () => () => {};
  return new PrivacyService({
    store,
    history,
    longTerm: longTerm.port,
    records: bookings,
    ledger,
    hold,
    locks: store.locks,
    clock,
    logger: silentLogger,
  });
}

async function exportOf(world: World, owner: Owner): Promise<z.output<typeof documentSchema>> {
  let text = "";
  for await (const piece of privacyOf(world).export(owner, { by: "user" })) text += piece;
  return documentSchema.parse(JSON.parse(text));
}

async function aliceHasALot(world: World): Promise<{ readonly first: string; readonly second: string }> {
  const { sessions, say, writer, clock, ledger, longTerm, store } = world;
  const session = await sessions.create(alice, { metadata: { time_zone: "Europe/Lisbon" }, expiresInDays: 9 });
  await say(alice, session.id, "jazz?", "Two.", {
    steps: [step("c1", 0, { count: 2 })],
    user: { page_context: "/events", time_zone: "Europe/Lisbon", idempotency: { key: "k", request_hash: "h" } },
    assistant: { elements: [{ id: "e", type: "event", name: "Blue Note", content: "{}", display: "side" }] },
  });
  await say(alice, session.id, "boook it", "Which?");
  const wrong = (await store.journal.window(alice, session.id, { rounds: 1 })).lastUserMessage;
  const rewind = { to_seq: (wrong?.seq ?? 0) - 1, to_offset: 0 };
  await writer.append(alice, session.id, [{ type: "rewind", id: "r", turn: 3, at: clock.now().toISOString(), body: rewind }]);
  await say(alice, session.id, "book the second", "Done.", { user: { edit_of: wrong?.id } });
  const summary = { text: "They booked.", from_turn: 1, to_turn: 3, by: "extract" };
  await writer.append(alice, session.id, [{ type: "summary", id: "s", turn: 0, at: clock.now().toISOString(), body: summary }]);
  await sessions.patch(alice, session.id, { title: "Jazz", tags: ["music"] });
  const second = await sessions.fork(alice, session.id, (await sessions.messages(alice, session.id, {})).data[0]?.id ?? "");
  await sessions.patch(alice, second.id, { status: "archived" });
  await sessions.delete(alice, second.id);
  longTerm.kept.set(alice, [memoryFrom(session, "Loves jazz")]);
  await ledger.addTombstone(alice, { memoryId: "m", messageIds: ["x"], textHash: "h", at: clock.now().toISOString() });
  await ledger.seen(alice, { at: clock.now().toISOString(), displayName: "Alice", timeZone: "Europe/Lisbon" });
  return { first: session.id, second: second.id };
}

describe("an export", () => {
  test("is what its page shows", async () => {
    const page = await readFile(new URL("../../docs/export.md", import.meta.url), "utf8");
    const [, example] = /```json\n(.*?)```/su.exec(page) ?? [];
    expect(documentSchema.parse(JSON.parse(example ?? ""))).toEqual(JSON.parse(example ?? ""));
    for (const key of Object.keys(documentSchema.shape)) expect(page).toMatch(new RegExp(`^\\| .*\`${key}\`.* \\|`, "mu"));
  });

  test("is JSON as documented and holds everything of its user", async () => {
    const world = await makeWorld();
    const { first, second } = await aliceHasALot(world);
    const document = await exportOf(world, alice);

    expect(document.user).toMatchObject({ display_name: "Alice", time_zone: "Europe/Lisbon" });
    expect(document.memories).toMatchObject([{ text: "Loves jazz", history: [{ event: "added" }] }]);
    expect(document.forgotten).toMatchObject([{ memory_id: "m", message_ids: ["x"] }]);
    expect(document.records).toEqual({ bookings: [{ id: "b1", seats: 2 }] });
    expect(document.sessions.map(({ id }) => id).toSorted()).toEqual([first, second].toSorted());
    const session = document.sessions.find(({ id }) => id === first);
    expect(session).toMatchObject({
      title: "Jazz",
      title_by: "user",
      tags: ["music"],
      tags_by: "user",
      status: "active",
      metadata: { time_zone: "Europe/Lisbon" },
      summary: { text: "They booked.", to_turn: 3 },
    });
    expect(session?.expires_at).not.toBeNull();
    expect(session?.messages.map(({ content, rewound }) => [content, rewound])).toEqual([
      ["jazz?", false],
      ["Two.", false],
      ["boook it", true],
      ["Which?", true],
      ["book the second", false],
      ["Done.", false],
    ]);
    expect(session?.messages[0]).toMatchObject({ page_context: "/events", time_zone: "Europe/Lisbon" });
    expect(session?.messages[4]?.edit_of).toBe(session?.messages[2]?.id);
    expect(session?.messages[1]?.elements).toHaveLength(1);
    expect(session?.steps).toMatchObject([{ turn: 1, name: "search_events", output: { count: 2 }, rewound: false }]);
    const fork = document.sessions.find(({ id }) => id === second);
    expect(fork).toMatchObject({ status: "deleted", status_before_delete: "archived", forked_from: { session_id: first } });
    expect(fork?.messages[0]?.origin_id).toBe(session?.messages[0]?.id);
  });

  test("of a user who has nothing is an empty one, and nothing of another user is in it", async () => {
    const world = await makeWorld();
    await aliceHasALot(world);
    expect([await privacyOf(world).records(alice), await privacyOf(world).records(bob)]).toEqual([[{ id: "b1", seats: 2 }], []]);
    expect(await exportOf(world, bob)).toMatchObject({ user: null, sessions: [], memories: [], forgotten: [], records: { bookings: [] } });
  });

  test("streams: no piece holds more than a message or a session's head", async () => {
    const world = await makeWorld();
    const { id } = await world.sessions.create(alice, {});
    for (let turn = 0; turn < 20; turn += 1) await world.say(alice, id, "x".repeat(1_000), "y".repeat(1_000));
    const sizes: number[] = [];
    for await (const piece of privacyOf(world).export(alice, { by: "user" })) sizes.push(piece.length);
    expect(Math.max(...sizes)).toBeLessThan(2_000);
  });

  test("is noted with counts, without content, once it is complete", async () => {
    const world = await makeWorld();
    await aliceHasALot(world);
    for await (const _ of privacyOf(world).export(alice, { by: "user" })) break;
    expect(await world.ledger.auditTrail(alice)).toEqual([]);
    await exportOf(world, alice);
    expect(await world.ledger.auditTrail(alice)).toMatchObject([
      { action: "export", by: "user", receiptId: null, counts: { sessions: 2, messages: 8, memories: 1, records: 1 } },
    ]);
  });

  test("a long-term store that is out of reach fails it before its first piece", async () => {
    const world = await makeWorld();
    world.longTerm.port.all = async function* () {
      yield* [];
      throw new Error("down");
    };
    await expect(privacyOf(world).export(alice, { by: "user" })[Symbol.asyncIterator]().next()).rejects.toThrow("down");
  });
});
