// Over 300 lines: one contract of four ports that are supplied together.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Owner, ownerOf } from "../../src/domain/owner.js";
import { type JournalRecord, MAX_RECORD_BYTES, type NewRecord } from "../../src/domain/session.js";
import { collected } from "../../src/platform/collected.js";
import { isAppError } from "../../src/platform/errors.js";
import { newId } from "../../src/platform/ids.js";
import { everyItem } from "../../src/ports/pages.js";
import type { SessionStore } from "../../src/ports/session-store.js";
import { type ContractOptions, optionalTests } from "../../src/testing/supports.js";
import { ALICE, BOB, JournalRecords } from "../support/journal-records.js";

export interface SessionStoreUnderTest {
  readonly store: SessionStore;
  dispose(): Promise<void>;
}

/**
 * `locks`: leases of sessions; `rebuild`: an index that was cleared is folded from the journals; the others are named as the port has them.
 */
export type SessionStoreFeature = "rewrite" | "compress" | "rewind" | "lists" | "external_ids" | "rebuild" | "locks";

/** What every session store promises; durability is tested beside it, where there is a medium. */
export function sessionStoreContract(
  name: string,
  make: () => Promise<SessionStoreUnderTest>,
  { supports }: ContractOptions<SessionStoreFeature> = {},
): void {
  const when = optionalTests(supports);
  describe(`session store: ${name}`, () => {
    let made: SessionStoreUnderTest;
    let store: SessionStore;
    let records: JournalRecords;

    beforeEach(async () => {
      made = await make();
      store = made.store;
      records = new JournalRecords();
    });
    afterEach(() => made.dispose());

    async function started(owner: Owner = ALICE, body: Parameters<JournalRecords["session"]>[1] = {}): Promise<string> {
      const id = newId();
      await store.index.apply(owner, id, await store.journal.create(owner, id, [records.session(owner, body)]));
      return id;
    }
    async function write(owner: Owner, id: string, ...added: readonly NewRecord[]): Promise<readonly JournalRecord[]> {
      const written = await store.journal.append(owner, id, added);
      await store.index.apply(owner, id, written);
      return written;
    }
    const turnsOf = async (id: string, rounds = 10) => (await store.journal.window(ALICE, id, { rounds })).rounds.map(({ turn }) => turn);
    const get = async (owner: Owner, id: string) => {
      const session = await store.index.get(owner, id);
      if (session === null) throw new Error("the session is not in the index");
      return session;
    };

    describe("journal", () => {
      test("numbers records from 1 without gaps and reads them back in order, verbatim", async () => {
        const id = await started();
        const text = 'Üñí \u0000 "quoted"\n\u2028 👩‍👩‍👧 \ud800';
        const written = await write(ALICE, id, records.user(1, text), records.step(1), records.assistant(1));
        expect(written.map(({ seq }) => seq)).toEqual([2, 3, 4]);
        const read = await collected(store.journal.read(ALICE, id));
        expect(read.map(({ seq, type }) => [seq, type])).toEqual([
          [1, "session"],
          [2, "message"],
          [3, "step"],
          [4, "message"],
        ]);
        expect(read.slice(1)).toEqual(written);
        expect(read[1]).toMatchObject({ body: { content: text } });
        expect((await collected(store.journal.read(ALICE, id, { fromSeq: 3 }))).map(({ seq }) => seq)).toEqual([3, 4]);
      });

      test("newest first it gives the same the other way round, from any record on, without what was taken back", async () => {
        const id = await started();
        await write(ALICE, id, ...Array.from({ length: 130 }, (_, turn) => records.round(turn + 1, 1)).flat());
        const all = await collected(store.journal.read(ALICE, id));
        expect(await collected(store.journal.newestFirst(ALICE, id))).toEqual(all.toReversed());
        const before = await collected(store.journal.newestFirst(ALICE, id, { beforeSeq: 301 }));
        expect(before).toEqual(all.filter(({ seq }) => seq < 301).toReversed());
        const at = all.at(-1)?.at ?? "";
        const to = (seq: number): NewRecord => ({ type: "rewind", id: newId(), turn: 131, at, body: { to_seq: seq, to_offset: 0 } });
        await write(ALICE, id, to(200), records.user(131));
        await write(ALICE, id, records.assistant(131), to(391));
        const seqs = (await collected(store.journal.newestFirst(ALICE, id))).map(({ seq }) => seq);
        // The second rewind undoes the first one.
        expect(seqs).toEqual([395, ...Array.from({ length: 391 }, (_, i) => 391 - i)]);
        await expect(collected(store.journal.newestFirst(BOB, id))).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
      });

      test("appends that run at the same time get consecutive numbers, each append in one piece", async () => {
        const id = await started();
        const results = await Promise.all(
          Array.from({ length: 40 }, (_, index) => store.journal.append(ALICE, id, records.round(index + 1, 1))),
        );
        for (const written of results) expect(written.map(({ seq }) => seq - (written[0]?.seq ?? 0))).toEqual([0, 1, 2]);
        const read = await collected(store.journal.read(ALICE, id));
        expect(read.map(({ seq }) => seq)).toEqual(Array.from({ length: 121 }, (_, index) => index + 1));
      });

      test("creating a session that is there is refused, or is another owner's own, and changes nothing", async () => {
        const id = await started();
        await expect(store.journal.create(ALICE, id, [records.session(ALICE)])).rejects.toMatchObject({ code: "SESSION_CHANGED" });
        const before = await collected(store.journal.read(ALICE, id));
        const others = await store.journal.create(BOB, id, [records.session(BOB), records.user(1)]).catch((error: unknown) => error);
        if (Array.isArray(others)) expect(await collected(store.journal.read(BOB, id))).toEqual(others);
        else expect(others).toMatchObject({ code: "SESSION_CHANGED" });
        expect(await collected(store.journal.read(ALICE, id))).toEqual(before);
      });

      test("a journal starts with the session record of its owner", async () => {
        for (const first of [[records.user(1)], [records.session(BOB)], []])
          await expect(store.journal.create(ALICE, newId(), first)).rejects.toMatchObject({ code: "INVALID_REQUEST" });
      });

      test("expectedSeq refuses a writer that has not seen the last record", async () => {
        const id = await started();
        await store.journal.append(ALICE, id, [records.user(1)], { expectedSeq: 1 });
        await expect(store.journal.append(ALICE, id, [records.user(2)], { expectedSeq: 1 })).rejects.toMatchObject({
          code: "SESSION_CHANGED",
        });
        const both = await Promise.allSettled(
          [2, 3].map((turn) => store.journal.append(ALICE, id, [records.user(turn)], { expectedSeq: 2 })),
        );
        expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      });

      test("the holder of an older lock is fenced off once a newer one has written", async () => {
        const id = await started();
        await store.journal.append(ALICE, id, [records.user(1)], { fence: 7 });
        await expect(store.journal.append(ALICE, id, [records.assistant(1)], { fence: 6 })).rejects.toMatchObject({ code: "FENCED" });
        await store.journal.append(ALICE, id, [records.assistant(1)], { fence: 7 });
        expect(await turnsOf(id)).toEqual([1]);
      });

      test("a record over 1 MiB is refused with all of its append; one just under it is kept", async () => {
        const id = await started();
        const large = records.user(1, "x".repeat(MAX_RECORD_BYTES));
        await expect(store.journal.append(ALICE, id, [records.user(1), large])).rejects.toMatchObject({ code: "RECORD_TOO_LARGE" });
        expect(await collected(store.journal.read(ALICE, id))).toHaveLength(1);
        const content = "y".repeat(MAX_RECORD_BYTES - 1_000);
        await store.journal.append(ALICE, id, [records.user(1, content), records.assistant(1)]);
        const { rounds } = await store.journal.window(ALICE, id, { rounds: 1 });
        expect(rounds[0]?.user.body.content === content).toBe(true);
      });

      test("somebody else's session and one that does not exist answer alike", async () => {
        const id = await started();
        for (const sessionId of [id, newId()]) {
          await expect(store.journal.append(BOB, sessionId, [records.user(1)])).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
          await expect(store.journal.window(BOB, sessionId, { rounds: 1 })).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
          await expect(collected(store.journal.read(BOB, sessionId))).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
          await expect(store.journal.rewrite(BOB, sessionId, () => null)).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
          await expect(store.journal.compress(BOB, sessionId)).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
          expect(await store.journal.remove(BOB, sessionId)).toBe(false);
          expect(await store.index.get(BOB, sessionId)).toBeNull();
          expect(await store.turns.of(BOB, sessionId)).toEqual([]);
          expect(await store.index.statusBeforeDelete(BOB, sessionId)).toBeNull();
        }
        expect(await collected(store.journal.read(ALICE, id))).toHaveLength(1);
      });

      test.each(["", "..", "../x", "a/b", "CON", "nul\u0000", "x".repeat(10_000), "%2e%2e", "018F4E9C-7C1D-7D2A-9F00-000000000000"])(
        "an id that can't be one is refused before anything is touched: %j",
        async (id) => {
          const refused = { code: "INVALID_SESSION_ID" };
          await expect(store.journal.create(ALICE, id, [records.session(ALICE)])).rejects.toMatchObject(refused);
          await expect(store.journal.append(ALICE, id, [records.user(1)])).rejects.toMatchObject(refused);
          await expect(store.journal.window(ALICE, id, { rounds: 1 })).rejects.toMatchObject(refused);
          await expect(collected(store.journal.read(ALICE, id))).rejects.toMatchObject(refused);
          await expect(store.journal.remove(ALICE, id)).rejects.toMatchObject(refused);
        },
      );

      test("an aborted signal ends a window and a read", async () => {
        const id = await started();
        const signal = AbortSignal.abort();
        await expect(store.journal.window(ALICE, id, { rounds: 1, signal })).rejects.toMatchObject({ code: "ABORTED" });
        await expect(collected(store.journal.read(ALICE, id, { signal }))).rejects.toMatchObject({ code: "ABORTED" });
      });

      when("rewrite")("a rewrite changes what it is told to, keeps the session record, and numbering goes on", async () => {
        const id = await started();
        await write(ALICE, id, ...records.round(1), records.summary(1), ...records.round(2));
        await store.journal.rewrite(ALICE, id, (record) =>
          record.type === "message" && record.turn === 1 ? { ...record, body: { ...record.body, content: "…" } } : record,
        );
        const window = await store.journal.window(ALICE, id, { rounds: 10 });
        expect(window.rounds.map(({ user }) => user.body.content)).toEqual(["…", "question 2"]);
        expect(window.summary?.body.text).toBe("summary to 1");
        await store.journal.rewrite(ALICE, id, () => null);
        expect((await collected(store.journal.read(ALICE, id))).map(({ type }) => type)).toEqual(["session"]);
        expect(await store.journal.window(ALICE, id, { rounds: 10 })).toMatchObject({ rounds: [], summary: null, lastSeq: 6, lastTurn: 2 });
        const [next] = await store.journal.append(ALICE, id, [records.user(3)]);
        expect(next?.seq).toBe(7);
      });

      when("compress")("a packed journal reads as before, and unpacks at the next append", async () => {
        const id = await started();
        await write(ALICE, id, ...records.round(1, 2), records.summary(1), ...records.round(2));
        const before = await collected(store.journal.read(ALICE, id));
        const window = await store.journal.window(ALICE, id, { rounds: 1 });
        await store.journal.compress(ALICE, id);
        await store.journal.compress(ALICE, id);
        expect(await collected(store.journal.read(ALICE, id))).toEqual(before);
        expect({ ...(await store.journal.window(ALICE, id, { rounds: 1 })), bytesRead: 0 }).toEqual({ ...window, bytesRead: 0 });
        expect(await collected(store.journal.list())).toEqual([{ owner: ALICE, sessionId: id, lastSeq: 8 }]);
        expect(await store.journal.residue(ALICE)).toBe(1);
        await expect(store.journal.append(BOB, id, [records.user(9)])).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
        const [next] = await store.journal.append(ALICE, id, [records.user(3)]);
        expect(next?.seq).toBe(9);
        expect(await turnsOf(id)).toEqual([1, 2]);
      });

      test("erasing an owner takes all of their journals and nobody else's, and says how many; again it is nothing", async () => {
        const [first, second, other] = [await started(), await started(), await started(BOB)];
        await write(ALICE, first, ...records.round(1));
        await write(ALICE, second, records.user(1), records.assistant(1, "failed", ""));
        await store.journal.compress(ALICE, second);
        expect(await store.journal.residue(ALICE)).toBe(2);
        expect(await store.journal.erase(ALICE)).toEqual({ sessions: 2, messages: 3 });
        expect(await store.journal.erase(ALICE)).toEqual({ sessions: 0, messages: 0 });
        expect(await store.journal.residue(ALICE)).toBe(0);
        await expect(store.journal.window(ALICE, first, { rounds: 1 })).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
        expect((await collected(store.journal.list())).map(({ sessionId }) => sessionId)).toEqual([other]);
      });

      test("a removed session is gone; its id may be used again", async () => {
        const id = await started();
        expect(await store.journal.remove(ALICE, id)).toBe(true);
        expect(await store.journal.remove(ALICE, id)).toBe(false);
        await store.journal.create(BOB, id, [records.session(BOB)]);
        expect(await collected(store.journal.read(BOB, id))).toHaveLength(1);
      });

      test("the check of a sound journal finds nothing", async () => {
        const id = await started();
        await write(ALICE, id, ...records.round(1));
        expect(await collected(store.journal.check())).toMatchObject([{ sessionId: id, records: 3, damagedLines: [], tornBytes: 0 }]);
      });
    });

    describe("window", () => {
      test("is the last completed rounds, oldest first, with their steps in order", async () => {
        const id = await started();
        for (let turn = 1; turn <= 5; turn += 1) await write(ALICE, id, ...records.round(turn, 2));
        const window = await store.journal.window(ALICE, id, { rounds: 3 });
        expect(window.rounds.map(({ turn, steps }) => [turn, steps.length])).toEqual([
          [3, 2],
          [4, 2],
          [5, 2],
        ]);
        expect(window).toMatchObject({ summary: null, lastSeq: 21, lastTurn: 5, lastUserMessage: { turn: 5 } });
      });

      test("an empty session has an empty window", async () => {
        const id = await started();
        expect(await store.journal.window(ALICE, id, { rounds: 10 })).toMatchObject({
          rounds: [],
          summary: null,
          lastUserMessage: null,
          lastSeq: 1,
          lastTurn: 0,
        });
      });

      test("interrupted, failed and unanswered turns stay out, but the last user message is theirs", async () => {
        const id = await started();
        await write(ALICE, id, ...records.round(1));
        await write(ALICE, id, records.user(2), records.assistant(2, "interrupted"));
        await write(ALICE, id, records.user(3), records.step(3), records.assistant(3, "failed"));
        await write(ALICE, id, records.user(4));
        const window = await store.journal.window(ALICE, id, { rounds: 10 });
        expect(window.rounds.map(({ turn }) => turn)).toEqual([1]);
        expect(window.lastUserMessage?.turn).toBe(4);
      });

      test("a turn that failed and was run again is one round, without the steps of the attempt that failed", async () => {
        const id = await started();
        await write(ALICE, id, records.user(1), records.step(1, "first try"), records.assistant(1, "failed"));
        await write(ALICE, id, ...records.round(2));
        await write(ALICE, id, records.step(1, "second try"), records.assistant(1));
        const { rounds } = await store.journal.window(ALICE, id, { rounds: 10 });
        expect(rounds.map(({ turn, steps }) => [turn, steps.map(({ name: tool }) => tool)])).toEqual([
          [2, []],
          [1, ["second try"]],
        ]);
      });

      test("the newest summary is found however far back it stands", async () => {
        const id = await started();
        await write(ALICE, id, ...records.round(1), records.summary(1, "first"), records.summary(1, "second"));
        for (let turn = 2; turn < 30; turn += 1) await write(ALICE, id, ...records.round(turn));
        expect((await store.journal.window(ALICE, id, { rounds: 2 })).summary?.body.text).toBe("second");
      });

      when("rewind")("a rewind takes messages and summaries back; turns and seqs never go back", async () => {
        const id = await started();
        await write(ALICE, id, ...records.round(1), records.summary(1, "old"));
        await write(ALICE, id, ...records.round(2), records.patch({ title: "Kept", by: "user" }), records.summary(2, "new"));
        await write(ALICE, id, records.rewind(3, 4), records.user(3, "said again"));
        const window = await store.journal.window(ALICE, id, { rounds: 10 });
        expect(window.rounds.map(({ turn }) => turn)).toEqual([1]);
        expect(window).toMatchObject({ summary: { body: { text: "old" } }, lastTurn: 3, lastSeq: 10, lastUserMessage: { turn: 3 } });
        const types = (await collected(store.journal.read(ALICE, id))).map(({ type, turn }) => `${type} ${turn}`);
        expect(types).toEqual(["session 0", "message 1", "message 1", "summary 1", "session_patch 0", "rewind 3", "message 3"]);
        expect(await collected(store.journal.read(ALICE, id, { includeRewound: true }))).toHaveLength(10);
        expect(await get(ALICE, id)).toMatchObject({ message_count: 3, summary: "old", title: "Kept" });
      });

      test("a rewind to a record that is not there yet is refused", async () => {
        const id = await started();
        await expect(store.journal.append(ALICE, id, [records.rewind(1, 5)])).rejects.toMatchObject({ code: "INVALID_REQUEST" });
      });
    });

    describe("index", () => {
      test("is a fold: records that it has are passed over, those that it missed are fetched from the journal", async () => {
        const id = await started();
        const first = await store.journal.append(ALICE, id, records.round(1));
        const second = await store.journal.append(ALICE, id, records.round(2));
        await store.index.apply(ALICE, id, second);
        await store.index.apply(ALICE, id, first);
        await store.index.apply(ALICE, id, second);
        expect(await get(ALICE, id)).toMatchObject({ message_count: 4, write_back: { pending_turns: 2, failed_turns: 0 } });
        expect(await store.index.indexedSeq(ALICE, id)).toBe(5);
      });

      when("lists")("all sessions of all owners are read in pages, each once", async () => {
        const ids = await Promise.all(Array.from({ length: 5 }, (_, index) => started(index % 2 === 0 ? ALICE : BOB)));
        const sizes: number[] = [];
        const listed: string[] = [];
        for await (const page of store.index.pages(2)) {
          sizes.push(page.length);
          listed.push(...page.map(({ owner, session }) => `${owner} ${session.id} ${session.message_count}`));
        }
        expect(sizes).toEqual([2, 2, 1]);
        expect(listed.toSorted()).toEqual(ids.map((id, index) => `${index % 2 === 0 ? ALICE : BOB} ${id} 0`).toSorted());
      });

      when("lists")("lists newest activity first, page by page, stable while sessions change", async () => {
        const ids: string[] = [];
        for (let each = 0; each < 7; each += 1) ids.push(await started());
        const first = await store.index.list(ALICE, { limit: 3 });
        expect(first.data.map(({ id }) => id)).toEqual([ids[6], ids[5], ids[4]]);
        await write(ALICE, ids[6] ?? "", records.user(1));
        await started();
        const second = await store.index.list(ALICE, { limit: 3, cursor: first.nextCursor ?? "" });
        expect(second.data.map(({ id }) => id)).toEqual([ids[3], ids[2], ids[1]]);
        const third = await store.index.list(ALICE, { limit: 3, cursor: second.nextCursor ?? "" });
        expect(third).toMatchObject({ data: [{ id: ids[0] }], nextCursor: null });
      });

      when("lists")("a cursor is good for its owner and its filters only", async () => {
        for (let each = 0; each < 3; each += 1) await started();
        const { nextCursor } = await store.index.list(ALICE, { limit: 1 });
        const cursor = nextCursor ?? "";
        const refused = { code: "INVALID_CURSOR" };
        await expect(store.index.list(BOB, { limit: 1, cursor })).rejects.toMatchObject(refused);
        await expect(store.index.list(ALICE, { limit: 1, cursor, status: "archived" })).rejects.toMatchObject(refused);
        await expect(store.index.list(ALICE, { limit: 1, cursor: `A${cursor}` })).rejects.toMatchObject(refused);
        for (const forged of ["", "x", "e30.e30", ".."])
          await expect(store.index.list(ALICE, { cursor: forged })).rejects.toMatchObject(refused);
      });

      when("lists")("filters by status, tag, and text in the title whatever its case", async () => {
        const [jazz, opera] = [await started(ALICE, { title: "JAZZ über alles" }), await started(ALICE, { title: "100% opera" })];
        await write(ALICE, jazz, records.patch({ tags: ["night"], by: "derived" }));
        await write(ALICE, opera, records.patch({ status: "archived", by: "user" }));
        const idsOf = async (query: Parameters<SessionStore["index"]["list"]>[1]) =>
          (await store.index.list(ALICE, query)).data.map(({ id }) => id);
        expect(await idsOf({})).toEqual([jazz]);
        expect(await idsOf({ status: "archived", title: "0% o" })).toEqual([opera]);
        expect(await idsOf({ title: "jazz ÜBER" })).toEqual([jazz]);
        expect(await idsOf({ title: "%" })).toEqual([]);
        expect(await idsOf({ tag: "night" })).toEqual([jazz]);
        expect(await idsOf({ tag: "nigh" })).toEqual([]);
        for (const limit of [0, 201, 1.5])
          await expect(store.index.list(ALICE, { limit })).rejects.toMatchObject({ code: "INVALID_REQUEST" });
      });

      test("the user's own title, topic and tags win over derived ones, in any order", async () => {
        const id = await started();
        await write(ALICE, id, records.patch({ title: "derived", topic: "derived", by: "derived" }));
        await write(ALICE, id, records.patch({ title: "mine", by: "user" }));
        await write(ALICE, id, records.patch({ title: "derived again", topic: "newer", by: "derived" }));
        expect(await get(ALICE, id)).toMatchObject({ title: "mine", topic: "newer" });
      });

      when("external_ids")("a session is found by its external id, by its owner only", async () => {
        const id = await started(ALICE, { external_id: "conv-1" });
        expect(await store.index.findByExternalId(ALICE, "conv-1")).toMatchObject({ id });
        expect(await store.index.findByExternalId(BOB, "conv-1")).toBeNull();
      });

      test("what a session is described by is kept as it was set last, with its kind of agent", async () => {
        const id = await started();
        await write(ALICE, id, records.patch({ agent_type: "sommelier", topic: "Wine", by: "user" }));
        const at = (await write(ALICE, id, records.patch({ status: "archived", by: "user" })))[0]?.at;
        expect(await get(ALICE, id)).toMatchObject({ agent_type: "sommelier", topic: "Wine", status: "archived", status_since: at });
      });

      test("owners who have sessions are listed page by page, each once, of one tenant or of all, until they are erased", async () => {
        const guests = ["carl", "dora", "eve"].map((user) => ownerOf("harbour", user));
        const others = [ALICE, BOB];
        for (const owner of [...guests, ...others]) {
          const id = await started(owner);
          if (owner !== ALICE) continue;
          await started(owner);
          await write(owner, id, ...records.round(1));
        }
        const pageOf = async (query: Parameters<SessionStore["index"]["owners"]>[0]) => {
          const page = await store.index.owners({ limit: 2, ...query });
          expect(page.data.length).toBeLessThanOrEqual(2);
          return page;
        };
        const all = (tenant?: string) => collected(everyItem((at) => pageOf({ ...at, ...(tenant !== undefined && { tenant }) })));
        const names = async (tenant?: string) => (await all(tenant)).map(({ owner }) => owner).sort();
        expect(await names()).toEqual([...guests, ...others].sort());
        expect([await names("harbour"), await names("harb"), await names("default")]).toEqual([guests, [], others]);
        const alice = (await all()).find(({ owner }) => owner === ALICE);
        const newest = (await store.index.list(ALICE, { limit: 1 })).data[0];
        expect(alice).toEqual({ owner: ALICE, sessions: 2, lastActiveAt: newest?.updated_at });
        for (const port of [store.journal, store.index]) await port.erase(ALICE);
        expect(await names("default")).toEqual([BOB]);
        const refused = store.index.owners({ cursor: "nowhere" }).catch((error: unknown) => isAppError(error, "INVALID_CURSOR"));
        expect(await refused).toBe(true);
      });

      test("an idempotency key is found for 24 hours, by its owner only", async () => {
        const id = await started();
        const [written] = await write(ALICE, id, records.user(1, "hello", { idempotency: { key: "k", request_hash: "h" } }));
        const at = Date.parse(written?.at ?? "");
        const find = (owner: Owner, laterMs: number) => store.index.findIdempotent(owner, "k", new Date(at + laterMs));
        expect(await find(ALICE, 1_000)).toMatchObject({ sessionId: id, turn: 1, messageId: written?.id, requestHash: "h" });
        expect(await find(BOB, 1_000)).toBeNull();
        expect(await find(ALICE, 24 * 3_600_000)).toBeNull();
      });

      test("an answered turn is pending until its write-back is done; oldest first, one per session", async () => {
        const [first, second] = [await started(), await started()];
        await write(ALICE, first, ...records.round(1));
        await write(ALICE, second, ...records.round(1));
        await write(ALICE, first, ...records.round(2));
        const due = async () => (await store.turns.due(Date.parse("2030-01-01"), 10)).map(({ sessionId, turn }) => [sessionId, turn]);
        expect(await due()).toEqual([
          [first, 1],
          [second, 1],
        ]);
        await write(ALICE, first, records.done(1));
        expect(await due()).toEqual([
          [second, 1],
          [first, 2],
        ]);
        expect(await store.turns.counts()).toEqual({ pending: 2, failed: 0 });
      });

      test("the age of the oldest pending turn is told: since it was answered, whatever was tried since", async () => {
        const oldest = () => store.turns.oldestAtMs();
        expect(await oldest()).toBeNull();
        const [first, second] = [await started(), await started(BOB)];
        const early = (await write(ALICE, first, ...records.round(1))).at(-1);
        const late = (await write(BOB, second, ...records.round(1))).at(-1);
        const at = (record: { readonly at: string } | undefined) => Date.parse(record?.at ?? "");
        expect(await oldest()).toBe(Math.min(at(early), at(late)));
        await store.turns.recordAttempt(
          { owner: ALICE, sessionId: first, turn: 1 },
          { attempts: 1, dueAtMs: Date.parse("2029-01-01"), errorCode: "INTERNAL" },
        );
        await write(BOB, second, records.done(1, "failed", 8));
        expect(await oldest()).toBe(at(early));
        await write(ALICE, first, records.done(1));
        expect(await oldest()).toBeNull();
      });

      test("pending turns of owners that are left out don't stand before others'", async () => {
        for (let n = 0; n < 3; n++) await write(ALICE, await started(), ...records.round(1));
        const his = await started(BOB);
        await write(BOB, his, ...records.round(1));
        const due = await store.turns.due(Date.parse("2030-01-01"), 1, { except: [ALICE] });
        expect(due.map(({ owner, sessionId }) => [owner, sessionId])).toEqual([[BOB, his]]);
        expect(await store.turns.due(Date.parse("2030-01-01"), 10, { except: [ALICE, BOB] })).toEqual([]);
      });

      test("an attempt that failed is due later; the session's next turn waits behind it", async () => {
        const id = await started();
        await write(ALICE, id, ...records.round(1), ...records.round(2));
        const dueAtMs = Date.parse("2026-06-01");
        await store.turns.recordAttempt({ owner: ALICE, sessionId: id, turn: 1 }, { attempts: 3, dueAtMs, errorCode: "INTERNAL" });
        expect(await store.turns.due(dueAtMs - 1, 10)).toEqual([]);
        expect(await store.turns.due(dueAtMs, 10)).toMatchObject([{ turn: 1, attempts: 3, errorCode: "INTERNAL", state: "pending" }]);
      });

      test("a turn that is given up is failed, holds up nobody, and can be retried", async () => {
        const id = await started();
        await write(ALICE, id, ...records.round(1), ...records.round(2), records.done(1, "failed", 8));
        expect(await get(ALICE, id)).toMatchObject({ write_back: { pending_turns: 1, failed_turns: 1 } });
        expect(await store.turns.due(Date.parse("2030-01-01"), 10)).toMatchObject([{ turn: 2 }]);
        expect(await store.turns.retryFailed(BOB, id, Date.now())).toBe(0);
        expect(await store.turns.retryFailed(ALICE, id, Date.now())).toBe(1);
        expect(await store.turns.of(ALICE, id)).toMatchObject([
          { turn: 1, state: "pending", attempts: 0 },
          { turn: 2, state: "pending" },
        ]);
      });

      test("an owner's turns that are not done are found over all of their sessions", async () => {
        const ids = [await started(), await started()].sort();
        for (const id of ids) await write(ALICE, id, ...records.round(1));
        await write(ALICE, ids[0] ?? "", ...records.round(2), records.done(1, "failed", 8));
        const found = await store.turns.of(ALICE);
        expect(found.map(({ sessionId, turn, state }) => [sessionId, turn, state])).toEqual([
          [ids[0], 1, "failed"],
          [ids[0], 2, "pending"],
          [ids[1], 1, "pending"],
        ]);
        expect(await store.turns.of(BOB)).toEqual([]);
        const but = async (except: string | undefined) =>
          (await store.turns.of(ALICE, { except: except ?? "" })).map(({ sessionId, turn }) => [sessionId, turn]);
        expect(await but(ids[0])).toEqual([[ids[1], 1]]);
        expect(await but(ids[1])).toEqual([
          [ids[0], 1],
          [ids[0], 2],
        ]);
      });

      test("a session is listed as it is told, but for what follows from its pending turns; nobody else's", async () => {
        const id = await started();
        await write(ALICE, id, ...records.round(1));
        const { write_back: _, status_since: _since, ...told } = (await store.index.get(ALICE, id)) ?? {};
        expect(told).toMatchObject({ id, message_count: 2 });
        expect(await store.index.listed(ALICE, id)).toEqual(told);
        expect(await store.index.listed(BOB, id)).toBeNull();
        expect(await store.index.listed(ALICE, "no-id")).toBeNull();
      });

      test("turns that must not be remembered, imported or copied ones, and taken-back ones are never pending", async () => {
        const id = await started();
        await write(ALICE, id, records.user(1, "secret", { remember: false }), records.assistant(1));
        await write(ALICE, id, records.user(2, "old", { imported: true }), records.assistant(2));
        await write(ALICE, id, records.user(3, "copy", { origin_id: newId() }), records.assistant(3));
        await write(ALICE, id, records.user(4, "unanswered", { remember: false }), records.assistant(4, "failed"));
        const [said] = await write(ALICE, id, records.user(5), records.assistant(5));
        await write(ALICE, id, records.rewind(6, (said?.seq ?? 0) - 1), records.user(6));
        expect(await store.turns.of(ALICE, id)).toEqual([]);
      });

      test("a turn that ended without an answer is pending, and once more when it is answered after all", async () => {
        const id = await started();
        const pending = async () => (await store.turns.of(ALICE, id)).map(({ turn }) => turn);
        await write(ALICE, id, records.user(1));
        expect(await pending()).toEqual([]);
        await write(ALICE, id, records.assistant(1, "interrupted"));
        expect(await pending()).toEqual([1]);
        await write(ALICE, id, records.done(1));
        expect(await pending()).toEqual([]);
        await write(ALICE, id, records.assistant(1));
        expect(await pending()).toEqual([1]);
        await write(ALICE, id, records.done(1), records.user(2), records.assistant(2, "failed"));
        expect(await pending()).toEqual([2]);
      });

      test("sessions whose time has come are found oldest first, and page on", async () => {
        const ids = [await started(), await started(), await started()];
        const soon = await started(ALICE, { expires_at: "2026-03-02T00:00:00.000Z" });
        await write(ALICE, ids[2] ?? "", records.patch({ status: "archived", by: "retention" }));
        const before = (await get(ALICE, soon)).created_at;
        const query = { status: "active" as const, inactiveSince: before, expiresBefore: "2026-02-01T00:00:00.000Z", limit: 1 };
        const [oldest] = await store.index.expiring(query);
        expect(oldest).toMatchObject({ owner: ALICE, session: { id: ids[0] }, statusBeforeDelete: null });
        expect(await store.index.expiring({ ...query, limit: 9, after: ids[0] ?? "" })).toMatchObject([{ session: { id: ids[1] } }]);
        const expired = {
          status: "active" as const,
          inactiveSince: "2020-01-01T00:00:00Z",
          expiresBefore: "2026-03-03T00:00:00Z",
          limit: 9,
        };
        expect(await store.index.expiring(expired)).toMatchObject([{ session: { id: soon } }]);
      });

      test("a deleted session remembers the status that it had", async () => {
        const id = await started();
        await write(ALICE, id, records.patch({ status: "archived", by: "user" }), records.patch({ status: "deleted", by: "user" }));
        expect(await store.index.statusBeforeDelete(ALICE, id)).toBe("archived");
        await write(ALICE, id, records.patch({ status: "archived", by: "user" }));
        expect(await store.index.statusBeforeDelete(ALICE, id)).toBeNull();
      });

      when("rebuild")(
        "rebuilt, it has the turns that were answered since a rewind, and of a key that was used again the newest message",
        async () => {
          const [older, newer] = [await started(), await started()];
          const key = { idempotency: { key: "k", request_hash: "h" } };
          const [first] = await write(ALICE, newer, records.user(1, "long ago", key));
          const again = { ...records.user(1, "again", key), at: new Date(Date.parse(first?.at ?? "") + 2 * 86_400_000).toISOString() };
          await write(ALICE, older, again, records.assistant(1));
          await write(ALICE, older, records.rewind(2, 1), records.user(2));
          await write(ALICE, older, records.assistant(2));
          const before = await store.turns.of(ALICE);
          await store.index.clear();
          for (const id of [older, newer])
            await store.index.apply(ALICE, id, await collected(store.journal.read(ALICE, id, { includeRewound: true })));
          expect(await store.turns.of(ALICE)).toEqual(before);
          expect(before.map(({ turn }) => turn)).toEqual([2]);
          expect(await store.index.findIdempotent(ALICE, "k", new Date(again.at))).toMatchObject({ sessionId: older });
        },
      );

      test("erasing an owner counts what went and leaves everybody else's", async () => {
        const [mine, other] = [await started(), await started(BOB)];
        await write(
          ALICE,
          mine,
          records.user(1, "x", { idempotency: { key: "k", request_hash: "h" } }),
          records.assistant(1),
          records.summary(1),
        );
        await write(BOB, other, ...records.round(1));
        expect(await store.index.residue(ALICE)).toBeGreaterThan(0);
        expect(await store.index.erase(ALICE)).toEqual({ sessions: 1, idempotencyKeys: 1, pendingTurns: 1 });
        expect(await store.index.residue(ALICE)).toBe(0);
        expect(await store.index.get(ALICE, mine)).toBeNull();
        expect(await get(BOB, other)).toMatchObject({ message_count: 2, write_back: { pending_turns: 1 } });
      });

      test("a removed session leaves nothing behind, and a cleared index nothing at all", async () => {
        const [mine, other] = [await started(), await started(BOB)];
        await write(ALICE, mine, ...records.round(1));
        await store.index.remove(BOB, mine);
        expect(await store.index.get(ALICE, mine)).not.toBeNull();
        await store.index.remove(ALICE, mine);
        expect(await store.index.residue(ALICE)).toBe(0);
        await store.index.clear();
        expect(await store.index.get(BOB, other)).toBeNull();
        expect(await store.index.indexedSeq(BOB, other)).toBe(0);
      });
    });

    describe("locks", () => {
      when("locks")("are given first come, first served, with growing fences; other keys are not held up", async () => {
        const first = await store.locks.acquire("a", { waitMs: 1_000 });
        const order: number[] = [];
        const waiting = [1, 2, 3].map(async (each) => {
          const lease = await store.locks.acquire("a", { waitMs: 10_000 });
          order.push(each);
          await lease.release();
          return lease.fence;
        });
        await (await store.locks.acquire("b", { waitMs: 0 })).release();
        await first.release();
        await first.release();
        const fences = await Promise.all(waiting);
        expect(order).toEqual([1, 2, 3]);
        expect(fences.toSorted((a, b) => a - b)).toEqual(fences);
        expect(fences[0]).toBeGreaterThan(first.fence);
      });

      when("locks")("whoever waits too long is told that the session is busy; the one behind is not skipped", async () => {
        const first = await store.locks.acquire("a", { waitMs: 0 });
        const late = store.locks.acquire("a", { waitMs: 50 }).catch((error: unknown) => isAppError(error, "SESSION_BUSY"));
        const patient = store.locks.acquire("a", { waitMs: 20_000 });
        expect(await late).toBe(true);
        await first.release();
        await (await patient).release();
      });

      when("locks")("an abort ends the wait", async () => {
        const first = await store.locks.acquire("a", { waitMs: 0 });
        const controller = new AbortController();
        const waiting = store.locks.acquire("a", { waitMs: 10_000, signal: controller.signal });
        controller.abort();
        await expect(waiting).rejects.toMatchObject({ code: "ABORTED" });
        await expect(store.locks.acquire("a", { waitMs: 0, signal: controller.signal })).rejects.toMatchObject({ code: "ABORTED" });
        await first.release();
        await (await store.locks.acquire("a", { waitMs: 0 })).release();
      });
    });
  });
}
