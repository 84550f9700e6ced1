import { describe, expect, test } from "vitest";
import type { Composed } from "../../src/compose/compose.js";
import { type Memory, statementSchema } from "../../src/domain/memory.js";
import { type Owner, ownerOf } from "../../src/domain/owner.js";
import { journalRecordSchema, type Message, type Session } from "../../src/domain/session.js";
import { recordFrom } from "../../src/memories/statement-record.js";
import { newId } from "../../src/platform/ids.js";
import type { ChatModel } from "../../src/ports/agent.js";
import type { ChatAnswer, ErasureReceipt } from "../../src/ports/resources.js";
import type { SessionStore } from "../../src/ports/session-store.js";
import type { StateEngine } from "../../src/state/engine.js";
import { EngineMemoryLog } from "../../src/state/memory-log/memory-log.js";
import { ownerPartition } from "../../src/state/partition.js";
import { parseEvents } from "../support/http-client.js";
import { CANARIES, liveAWholeLife } from "./whole-life.js";
import { type Client, filesHolding, startWorld, tempDir } from "./world.js";

/** A short window, so that rolling summaries are written. */
const SUMMARISING = { SHORT_TERM_ROUNDS: "1" };

describe("erasing oneself over HTTP", () => {
  test("[erasure-complete] leaves none of the words of a whole life in any file, while the server runs, when it stopped and after its next start", async () => {
    const dir = await tempDir();
    const world = await startWorld(dir, SUMMARISING);
    const [alice, bob] = [world.as("alice"), world.as("bob")];
    await bob.say("I prefer the Umbrelwhist quartet, and I need a hearing loop.");
    await liveAWholeLife(alice);
    const canaries = Object.values(CANARIES);
    // Every canary did get into a file, and the archived sessions are packed.
    const before = await filesHolding(dir, canaries);
    expect(canaries.filter((canary) => !before.some((found) => found.endsWith(`: ${canary}`)))).toEqual([]);
    expect(before.some((found) => found.includes(".gz: "))).toBe(true);
    const bobs = await contentOf(bob);

    const erased = await alice.delete<ErasureReceipt>("/v1/me?confirm=true");
    expect(erased).toMatchObject({ status: 200, body: { verified: true } });
    expect(erased.body).not.toHaveProperty("residue");
    for (const what of ["sessions", "messages", "memories", "history_entries", "bookings"])
      expect(erased.body.erased[what]).toBeGreaterThan(0);
    expect(await filesHolding(dir, canaries)).toEqual([]);
    expect(await contentOf(bob)).toEqual(bobs);
    await world.stop();
    expect(await filesHolding(dir, canaries)).toEqual([]);

    const again = await startWorld(dir, SUMMARISING);
    expect(await filesHolding(dir, canaries)).toEqual([]);
    const nobody = again.as("alice");
    for (const status of ["active", "archived", "deleted"])
      expect((await nobody.get(`/v1/sessions?status=${status}`)).body).toEqual({ data: [], next_cursor: null });
    expect((await nobody.get("/v1/memories?include_superseded=true")).body).toEqual({ data: [], next_cursor: null });
    expect((await nobody.get(`/v1/history/search?q=${CANARIES.said}`)).body).toEqual({ data: [], next_cursor: null });
    expect(await contentOf(again.as("bob"))).toEqual(bobs);
    expect((await again.as("bob").get<{ data: Memory[] }>("/v1/memories")).body.data).toHaveLength(2);
  }, 120_000);

  test("needs a confirmation, and can be repeated", async () => {
    const world = await startWorld(await tempDir());
    const alice = world.as("alice");
    await alice.say("I prefer jazz concerts.");
    expect(await alice.delete("/v1/me")).toMatchObject({ status: 400, body: { code: "CONFIRMATION_REQUIRED" } });
    expect((await alice.get<{ data: Session[] }>("/v1/sessions")).body.data).toHaveLength(1);
    const first = await alice.delete<ErasureReceipt>("/v1/me?confirm=true");
    const second = await alice.delete<ErasureReceipt>("/v1/me?confirm=true");
    expect(second).toMatchObject({ status: 200, body: { verified: true, erased: { sessions: 0, memories: 0 } } });
    expect(second.body.receipt_id).not.toBe(first.body.receipt_id);
    // Life goes on.
    const answer = await alice.say("I prefer opera.");
    expect(answer.memory.recalled).toEqual([]);
  }, 60_000);
});

describe("a receipt", () => {
  const residues = {
    // The log refuses what comes behind the erasure's fence.
    memories: async (_: Composed, owner: Owner, engine: StateEngine) => {
      const statement = statementSchema.parse({ text: "Prefers residue", category: "genre" });
      const now = new Date();
      const claim = { id: newId(), statedAt: now.toISOString(), source: null, statement, waits: null };
      const entry = { kind: "import", turn: null, puts: [recordFrom(claim, now, [])], removed: [] } as const;
      await new EngineMemoryLog(engine).append(owner, entry, { expectedSeq: 0, behindFence: true, now });
    },
    history: async ({ history }: Composed, owner: Owner) => {
      const message = { message_id: newId(), session_id: newId(), turn: 1, position: 0, role: "user" as const, name: null };
      await history.addEvents(owner, [{ ...message, content: "residue", channel: "api", created_at: new Date().toISOString() }]);
    },
    bookings: async ({ parts }: Composed, owner: Owner) => {
      const booking = { id: newId(), reference: "MD-RESIDUE1", eventId: "e", title: "t", venue: "v", city: "c", section: "s" };
      const sold = { quantity: 1, totalCents: 1, companions: [], status: "confirmed", cancelledAt: null };
      const at = new Date().toISOString();
      await parts.domain.records?.restore(owner, [{ ...booking, ...sold, startsAt: at, createdAt: at }]);
    },
    // A store refuses an image of somebody who is being erased.
    images: async (_: Composed, owner: Owner, engine: StateEngine) => {
      const head = JSON.stringify({ bytes: 0, parts: 0, whole: true, atMs: 0 });
      const puts = [{ key: `image/${newId()}/${"ab".repeat(32)}`, value: head }];
      await engine.commit(ownerPartition(owner), { id: newId(), puts });
    },
    journal: async ({ parts }: Composed, owner: Owner) => {
      await parts.store.journal.create(owner, newId(), [sessionOf(owner)]);
    },
    index: async ({ parts }: Composed, owner: Owner) => {
      await parts.store.index.apply(owner, newId(), [journalRecordSchema.parse({ v: 1, seq: 1, ...sessionOf(owner) })]);
    },
  } as const;

  test.each(Object.entries(residues))(
    "[erasure-verified] is not verified, and names the store, when something is found in %s after its erasure; the next one is",
    async (store, plant) => {
      const owner = ownerOf("default", "alice");
      let planting: (() => Promise<void>) | null = null;
      // What is left of an owner is looked for in the last store that is erased, the index: then the residue is planted.
      const sessions = (inner: SessionStore): SessionStore => ({
        journal: inner.journal,
        turns: inner.turns,
        locks: inner.locks,
        images: inner.images,
        close: () => inner.close(),
        index: overridden(inner.index, {
          erase: async (erased) => {
            const counts = await inner.index.erase(erased);
            await planting?.();
            return counts;
          },
        }),
      });
      const engines: StateEngine[] = [];
      const engine = (inner: StateEngine) => {
        engines.push(inner);
        return inner;
      };
      const world = await startWorld(await tempDir(), {}, { around: { sessions, engine } });
      const alice = world.as("alice");
      await alice.say("I prefer jazz concerts.");
      planting = async () => {
        for (const each of engines) await plant(world.application, owner, each);
      };
      const first = await alice.delete<ErasureReceipt>("/v1/me?confirm=true");
      expect(first).toMatchObject({ status: 200, body: { verified: false } });
      // What is planted in a journal or a memory log is told as an event too.
      const { events: _told, ...residue } = first.body.residue ?? {};
      expect(residue).toEqual({ [store]: expect.any(Number) });
      planting = null;
      const second = await alice.delete<ErasureReceipt>("/v1/me?confirm=true");
      expect(second.body).toMatchObject({ verified: true });
      expect(second.body).not.toHaveProperty("residue");
    },
    60_000,
  );

  test("[erasure-complete] for one who erases while turns, a stream and an import of theirs run: they end, and their words go too; others feel nothing", async () => {
    const dir = await tempDir();
    const started: (() => void)[] = [];
    const [begun, release] = [gate(), gate()];
    const model: ChatModel = {
      name: "slow",
      standIn: true,
      async *stream(request, { signal }) {
        // What is known now stands before the guest's own words.
        const said = request.messages.at(-1)?.content.split("\n").at(-1) ?? "";
        yield { type: "text", delta: `You said ${said}. ` };
        started.push(() => undefined);
        if (started.length === 4) begun.open();
        await Promise.race([release.opened, new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))]);
        yield { type: "end", reason: "stop", usage: { input_tokens: 1, output_tokens: 1 } };
      },
    };
    const world = await startWorld(dir, {}, { model });
    const [alice, bob] = [world.as("alice"), world.as("bob")];
    const canaries = ["Zanthorix", "Quellnaster", "Vorpelgrin", "Wexlindorf", "Mubbelwhisk"];
    const turns = canaries.slice(0, 3).map((canary, n) => alice.post("/v1/chat", { message: `Hello ${canary}`, stream: n === 0 }));
    const bobs = bob.post<ChatAnswer>("/v1/chat", { message: "Hello Umbrelwhist" });
    await begun.opened;
    // An import whose last line has not come yet.
    const waitsForRest = gate();
    let sendRest: () => void = () => {};
    const line = (content: string) => Buffer.from(`${JSON.stringify({ session_id: "s", role: "user", content })}\n`);
    const pulled = [
      (controller: ReadableStreamDefaultController<Uint8Array>) => controller.enqueue(line(`My ${canaries[3]}`)),
      (controller: ReadableStreamDefaultController<Uint8Array>) => {
        sendRest = () => {
          controller.enqueue(line(`My ${canaries[4]}`));
          controller.close();
        };
        waitsForRest.open();
      },
    ];
    const body = new ReadableStream<Uint8Array>({ pull: (controller) => pulled.shift()?.(controller) }, { highWaterMark: 0 });
    const headers = { "X-User-Id": "alice", "Content-Type": "application/x-ndjson" };
    const importing = world.app.request("/v1/import", { method: "POST", headers, body, duplex: "half" } as RequestInit);
    await waitsForRest.opened;

    const erasing = alice.delete<ErasureReceipt>("/v1/me?confirm=true");
    const ended = await Promise.all(turns);
    expect(parseEvents(ended[0]?.text ?? "").at(-1)).toMatchObject({ event: "error", data: { code: "OWNER_ERASED" } });
    for (const { status, body: problem } of ended.slice(1)) expect([status, problem.code]).toEqual([409, "OWNER_ERASED"]);
    sendRest();
    expect((await importing).status).toBe(409);
    expect((await erasing).body).toMatchObject({ verified: true });
    release.open();
    expect(await bobs).toMatchObject({ status: 200, body: { message: { content: "You said Hello Umbrelwhist. " } } });
    expect(await filesHolding(dir, canaries)).toEqual([]);
    await world.stop();
    expect(await filesHolding(dir, canaries)).toEqual([]);
    expect((await filesHolding(dir, ["Umbrelwhist"])).length).toBeGreaterThan(0);
  }, 60_000);
});

function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open: () => void = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

function sessionOf(owner: Owner) {
  return { type: "session" as const, id: newId(), turn: 0, at: new Date().toISOString(), body: { owner } };
}

/** The same object but for some methods. */
function overridden<T extends object>(inner: T, methods: Partial<T>): T {
  return new Proxy(inner, {
    get: (target, name) => {
      const value: unknown = Reflect.get(name in methods ? methods : target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

describe("taking one's data along", () => {
  test("[export-complete] export, erase, import, export give the same content but for the narrative, which the API shows as it did before", async () => {
    const dir = await tempDir();
    const living = await startWorld(dir, SUMMARISING);
    const sessions = await liveAWholeLife(living.as("alice"));
    await living.as("alice").say(`Forget that I dislike ${CANARIES.promoted} musicals.`, { session_id: sessions.main });
    // A stop waits for what goes on behind the answers: summaries are written anew without what was forgotten.
    await living.stop();
    const world = await startWorld(dir, SUMMARISING);
    const alice = world.as("alice");
    const first = await alice.get("/v1/me/export");
    expect(first.headers.get("Content-Disposition")).toContain("attachment");
    const shown = await contentOf(alice);
    // What was taken back, forgotten or said off the record is found by no search, in no summary either.
    for (const query of [CANARIES.takenBack, CANARIES.promoted, CANARIES.incognito])
      expect((await alice.get(`/v1/history/search?q=${query}`)).text).not.toContain(query);

    expect((await alice.delete<ErasureReceipt>("/v1/me?confirm=true")).body.verified).toBe(true);
    const empty = await alice.get<Exported>("/v1/me/export");
    expect(empty.body).toMatchObject({ sessions: [], memories: [], records: { bookings: [] } });
    const taken = await alice.post("/v1/import", first.text);
    expect(taken.status).toBe(200);
    const second = await alice.get("/v1/me/export");
    expect(comparable(second.text)).toEqual(comparable(first.text));
    expect(await contentOf(alice)).toEqual(shown);

    // Again: nothing is there twice. By somebody else: theirs get ids of their own, and alice's stay as they are.
    expect((await alice.post("/v1/import", first.text)).body).toMatchObject({ messages: 0 });
    expect(comparable((await alice.get("/v1/me/export")).text)).toEqual(comparable(first.text));
    const carol = world.as("carol");
    expect((await carol.post("/v1/import", first.text)).status).toBe(200);
    expect(comparable((await alice.get("/v1/me/export")).text)).toEqual(comparable(first.text));
    const [hers, theirs] = [await idsOf(alice), await idsOf(carol)];
    expect(theirs.filter((id) => hers.includes(id))).toEqual([]);
    expect(theirs).toHaveLength(hers.length);
  }, 120_000);
});

interface Exported {
  readonly sessions: readonly { readonly id: string; readonly updated_at: string }[];
  readonly memories: readonly { readonly id: string; readonly type?: string }[];
}

/** Lists that have no order of their own, ordered. Times of last activity: a renaming counts in the one, and is none in the other. */
function comparable(text: string): object {
  const document = JSON.parse(text) as Exported;
  const byId = (a: { readonly id: string }, b: { readonly id: string }) => a.id.localeCompare(b.id);
  return {
    ...document,
    exported_at: null,
    user: null,
    // They stay in the file.
    receipts: null,
    sessions: document.sessions.map((session) => ({ ...session, updated_at: null })).toSorted(byId),
    // A narrative is told anew.
    memories: document.memories.filter(({ type }) => type !== "narrative").toSorted(byId),
  };
}

async function idsOf(guest: Client): Promise<string[]> {
  const document = JSON.parse((await guest.get("/v1/me/export")).text) as Exported;
  return [...document.sessions, ...document.memories].map(({ id }) => id);
}

/** What the API shows of a guest: sessions with threads and messages, memories with their reasons and histories, and what a search finds. */
async function contentOf(guest: Client): Promise<object> {
  const sessions = [];
  for (const status of ["active", "archived", "deleted"]) {
    const { data } = (await guest.get<{ data: Session[] }>(`/v1/sessions?status=${status}&limit=200`)).body;
    for (const { updated_at: _, ...session } of data.toSorted((a, b) => a.id.localeCompare(b.id))) {
      const thread = (await guest.get<{ steps: object[]; elements: object[] }>(`/v1/sessions/${session.id}/thread`)).body;
      const { data: messages } = (await guest.get<{ data: Message[] }>(`/v1/sessions/${session.id}/messages?limit=200`)).body;
      sessions.push({ session: { ...session, summary_updated_at: null }, steps: thread.steps, elements: thread.elements, messages });
    }
  }
  const memories = [];
  const { data } = (await guest.get<{ data: Memory[] }>("/v1/memories?include_superseded=true&limit=200")).body;
  for (const memory of data.toSorted((a, b) => a.id.localeCompare(b.id)))
    memories.push({
      memory,
      why: (await guest.get(`/v1/memories/${memory.id}/why`)).body,
      history: (await guest.get(`/v1/memories/${memory.id}/history`)).body,
    });
  const searches = [];
  for (const query of [
    CANARIES.said,
    CANARIES.imported,
    CANARIES.archived,
    CANARIES.takenBack,
    CANARIES.incognito,
    CANARIES.deleted,
    CANARIES.promoted,
    "Umbrelwhist",
  ]) {
    const hits = (await guest.get<{ data: { id: string; content: string }[] }>(`/v1/history/search?q=${query}&limit=200`)).body.data;
    searches.push({
      query,
      found: hits
        .filter(({ content }) => content.includes(query))
        .map(({ id }) => id)
        .sort(),
    });
  }
  return { sessions, memories, searches };
}
