import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type Owner, ownerOf } from "../../src/domain/owner.js";
import type { Role } from "../../src/domain/session.js";
import { newId } from "../../src/platform/ids.js";
import type { Embedder } from "../../src/ports/embedding.js";
import type { ConversationHistory } from "../../src/ports/history.js";
import type { HistoryMessage } from "../../src/ports/resources.js";

export interface HistoryUnderTest {
  readonly history: ConversationHistory;
  close(): Promise<void>;
}

/** Counts the calls and the texts that it is asked for; embeds by the embedder that it wraps. */
export function countingEmbedder(inner: Embedder): Embedder & { readonly calls: number[] } {
  const calls: number[] = [];
  return {
    id: inner.id,
    dimension: inner.dimension,
    lexical: inner.lexical,
    calls,
    embed: (texts, options) => {
      calls.push(texts.length);
      return inner.embed(texts, options);
    },
  };
}

/** A conversation for tests: lines "user: …" and "assistant: …", a minute apart. */
export function conversation(
  lines: readonly string[],
  options: { readonly sessionId?: string; readonly at?: string } = {},
): HistoryMessage[] {
  const sessionId = options.sessionId ?? newId();
  const start = Date.parse(options.at ?? "2026-03-12T18:00:00.000Z");
  return lines.map((line, position) => {
    const [, speaker = "user", content = ""] = /^(\S+): (.*)$/su.exec(line) ?? [];
    const role: Role = speaker === "assistant" || speaker === "system" ? speaker : "user";
    return {
      message_id: newId(),
      session_id: sessionId,
      turn: Math.floor(position / 2) + 1,
      position,
      role,
      name: speaker === role ? null : speaker,
      content,
      channel: "api",
      created_at: new Date(start + position * 60_000).toISOString(),
    };
  });
}

const DINNER = [
  "user: We are celebrating our anniversary, any ideas for a quiet table?",
  "assistant: The Lantern Room has an alcove by the window.",
  "user: Perfect. My wife cannot eat shellfish.",
  "assistant: I have told the kitchen.",
];
const OPERA = ["user: Two seats for the opera, please.", "assistant: Row F has two on the aisle.", "user: Row F it is."];

/** What every history promises. `make` opens it empty, or with what other owners hold. */
export function describeHistoryContract(name: string, make: (embedder?: (inner: Embedder) => Embedder) => Promise<HistoryUnderTest>): void {
  describe(`history contract: ${name}`, () => {
    async function withHistory(
      run: (history: ConversationHistory, owner: Owner) => Promise<void>,
      embedder?: (inner: Embedder) => Embedder,
    ) {
      const made = await make(embedder);
      const owner = ownerOf("test", randomUUID());
      try {
        await run(made.history, owner);
      } finally {
        await made.history.erase(owner).finally(() => made.close());
      }
    }
    const sessionOf = (messages: readonly HistoryMessage[]) => messages[0]?.session_id ?? "";

    test("a session that was added is found by its words, best first, with everything that was given", () =>
      withHistory(async (history, owner) => {
        const [first, ...rest] = conversation(DINNER);
        if (first === undefined) throw new Error("no message");
        const given = { ...first, name: "Rosa", channel: "web", custom_metadata: { table: 4, tags: ["a"] } };
        expect(await history.addSession(owner, given.session_id, [given, ...rest])).toBe(4);
        expect(await history.addSession(owner, sessionOf(conversation(OPERA)), [])).toBe(0);
        const hits = await history.search(owner, { query: "quiet table for an anniversary" });
        expect(hits[0]).toMatchObject({
          id: given.message_id,
          message_id: given.message_id,
          session_id: given.session_id,
          turn: 1,
          role: "user",
          name: "Rosa",
          content: given.content,
          created_at: given.created_at,
          custom_metadata: { table: 4, tags: ["a"] },
        });
        expect(hits.map(({ score }) => score)).toEqual([...hits.map(({ score }) => score)].sort((a, b) => b - a));
      }));

    test("adding again changes nothing, also when the content differs", () =>
      withHistory(async (history, owner) => {
        const messages = conversation(DINNER);
        expect(await history.addSession(owner, sessionOf(messages), messages)).toBe(4);
        expect(await history.addSession(owner, sessionOf(messages), messages)).toBe(0);
        expect(
          await history.addEvents(
            owner,
            messages.map((message) => ({ ...message, content: "something else entirely" })),
          ),
        ).toBe(0);
        expect(await history.count(owner)).toBe(4);
        expect((await history.search(owner, { query: "something else entirely" })).map(({ content }) => content)).not.toContain(
          "something else entirely",
        );
      }));

    test("events are added as they come; only what is new counts", () =>
      withHistory(async (history, owner) => {
        const messages = conversation(DINNER);
        expect(await history.addEvents(owner, messages.slice(0, 2))).toBe(2);
        expect(await history.addEvents(owner, messages)).toBe(2);
        expect(await history.addEvents(owner, [])).toBe(0);
        expect(await history.count(owner, sessionOf(messages))).toBe(4);
        expect(await history.count(owner, newId())).toBe(0);
        const [sessionId, unknown] = [sessionOf(messages), newId()];
        expect([...(await history.counts([sessionId, unknown].map((id) => ({ owner, sessionId: id }))))]).toEqual([[sessionId, 4]]);
        expect((await history.counts([])).size).toBe(0);
      }));

    test("an importer's id comes back as the message's id", () =>
      withHistory(async (history, owner) => {
        const messages = conversation(DINNER).map((message, i) => ({ ...message, external_id: `D1:${i}` }));
        await history.addEvents(owner, messages);
        const [hit] = await history.search(owner, { query: "shellfish" });
        expect(hit).toMatchObject({ message_id: "D1:2", id: messages[2]?.message_id });
      }));

    test("[owner-isolation] a query can't cross to another owner, whatever ids it names", () =>
      withHistory(async (history, owner) => {
        const other = ownerOf("test", `${randomUUID()}`);
        const messages = conversation(DINNER);
        await history.addEvents(other, messages);
        try {
          expect(await history.search(owner, { query: "shellfish" })).toEqual([]);
          expect(await history.search(owner, { query: "shellfish", session_id: sessionOf(messages), context: 2 })).toEqual([]);
          expect(await history.count(owner, sessionOf(messages))).toBe(0);
          expect(await history.removeSession(owner, sessionOf(messages))).toBe(0);
          expect(
            await history.removeMessages(
              owner,
              messages.map(({ message_id }) => message_id),
            ),
          ).toBe(0);
          expect(await history.erase(owner)).toBe(0);
          expect(await history.count(other)).toBe(4);
          expect(await history.addEvents(owner, messages)).toBe(4);
          expect(await history.count(other)).toBe(4);
        } finally {
          await history.erase(other);
        }
      }));

    test("a search can be narrowed to a session, a role and a time; from is inclusive, to exclusive", () =>
      withHistory(async (history, owner) => {
        const march = conversation(OPERA, { at: "2026-03-12T18:00:00.000Z" });
        const june = conversation(OPERA, { at: "2026-06-01T18:00:00.000Z" });
        await history.addEvents(owner, [...march, ...june]);
        const ids = async (search: object) =>
          new Set((await history.search(owner, { query: "row F opera seats", ...search })).map(({ id }) => id));
        const idsOf = (messages: readonly HistoryMessage[]) => new Set(messages.map(({ message_id }) => message_id));
        expect(await ids({})).toEqual(idsOf([...march, ...june]));
        expect(await ids({ session_id: sessionOf(june) })).toEqual(idsOf(june));
        expect(await ids({ role: "assistant" })).toEqual(idsOf([...march.slice(1, 2), ...june.slice(1, 2)]));
        expect(await ids({ from: "2026-06-01T18:01:00.000Z" })).toEqual(idsOf(june.slice(1)));
        expect(await ids({ from: "2026-03-12T18:00:00.000Z", to: "2026-03-12T18:02:00.000Z" })).toEqual(idsOf(march.slice(0, 2)));
      }));

    test("a limit bounds the hits", () =>
      withHistory(async (history, owner) => {
        await history.addEvents(owner, conversation(Array.from({ length: 30 }, (_, i) => `user: opera number ${i}`)));
        expect(await history.search(owner, { query: "opera", limit: 3 })).toHaveLength(3);
        expect(await history.search(owner, { query: "opera" })).toHaveLength(20);
      }));

    test("context brings the messages before and after, in order, within the session", () =>
      withHistory(async (history, owner) => {
        const messages = conversation(DINNER);
        await history.addEvents(owner, [...messages, ...conversation(OPERA)]);
        const [hit] = await history.search(owner, { query: "shellfish", context: 1 });
        expect(hit?.id).toBe(messages[2]?.message_id);
        expect(hit?.before?.map(({ message_id }) => message_id)).toEqual([messages[1]?.message_id]);
        expect(hit?.after?.map(({ message_id }) => message_id)).toEqual([messages[3]?.message_id]);
        const [first] = await history.search(owner, { query: "anniversary", context: 5 });
        expect(first?.before).toEqual([]);
        expect(first?.after?.map(({ position }) => position)).toEqual([1, 2, 3]);
      }));

    test("excluded messages are neither found nor shown as context", () =>
      withHistory(async (history, owner) => {
        const messages = conversation(DINNER);
        await history.addEvents(owner, messages);
        const hidden = new Set([messages[2]?.message_id ?? ""]);
        const hits = await history.search(owner, { query: "wife shellfish kitchen table", excludeMessageIds: hidden, context: 2 });
        expect(hits.length).toBeGreaterThan(0);
        expect(JSON.stringify(hits)).not.toContain("shellfish");
      }));

    test("an answer is found by its question's words, though it shares none, also when it was added later", () =>
      withHistory(async (history, owner) => {
        const messages = conversation(["user: What is the name of your dog?", "guest: Biscuit!", ...OPERA]);
        await history.addEvents(owner, messages.slice(0, 1));
        await history.addEvents(owner, messages.slice(1));
        expect((await history.search(owner, { query: "name of the dog", limit: 2 })).map(({ content }) => content)).toContain("Biscuit!");
      }));

    test("words are found in other inflections, scripts and spellings", () =>
      withHistory(async (history, owner) => {
        const messages = conversation([
          "user: She loves celebrating birthdays",
          "user: 我们想订一个靠窗的座位看爵士音乐会",
          "user: Nous cherchons un hôtel près de la gare",
          "user: Мы любим джазовые концерты",
          "user: 窓側の席を二つ予約したいです",
        ]);
        await history.addEvents(owner, messages);
        for (const [query, position] of [
          ["celebrate birthday", 0],
          ["爵士音乐", 1],
          ["hotel gares", 2],
          ["джазовый концерт", 3],
          ["窓側の席", 4],
        ] as const) {
          expect((await history.search(owner, { query, limit: 1 }))[0]?.content, query).toBe(messages[position]?.content);
        }
      }));

    test("a misspelt word is found by its letters where no word fits", () =>
      withHistory(async (history, owner) => {
        await history.addEvents(owner, [...conversation(["user: We loved the Schönbrunn evening"]), ...conversation(OPERA)]);
        expect((await history.search(owner, { query: "shoenbrunn", limit: 1 }))[0]?.content).toContain("Schönbrunn");
      }));

    test("texts are embedded in batches, and only those that are new", () => {
      let counter: ReturnType<typeof countingEmbedder> | undefined;
      return withHistory(
        async (history, owner) => {
          const messages = conversation(Array.from({ length: 300 }, (_, i) => `user: message number ${i}`));
          await history.addSession(owner, sessionOf(messages), messages);
          expect(counter?.calls).toEqual([128, 128, 44]);
          await history.addSession(owner, sessionOf(messages), messages);
          expect(counter?.calls).toHaveLength(3);
          await history.search(owner, { query: "message" });
          expect(counter?.calls.slice(3), "at most one text a search").toSatisfy(
            (calls: number[]) => calls.length <= 1 && calls.every((texts) => texts === 1),
          );
        },
        (inner) => {
          counter = countingEmbedder(inner);
          return counter;
        },
      );
    });

    test("removed messages and sessions are gone, and so are their words from what follows them", () =>
      withHistory(async (history, owner) => {
        const dinner = conversation(DINNER);
        const opera = conversation(OPERA);
        await history.addEvents(owner, [...dinner, ...opera]);
        expect(await history.removeMessages(owner, [dinner[2]?.message_id ?? "", newId()])).toBe(1);
        expect(await history.removeMessages(owner, [dinner[2]?.message_id ?? ""])).toBe(0);
        expect(await history.count(owner, sessionOf(dinner))).toBe(3);
        const kitchen = (await history.search(owner, { query: "shellfish" })).find(({ id }) => id === dinner[3]?.message_id);
        const opening = (await history.search(owner, { query: "shellfish" })).find(({ id }) => id === dinner[0]?.message_id);
        expect(kitchen?.score ?? 0).toBeLessThan(0.1);
        expect(opening?.score ?? 0).toBeLessThan(0.1);
        expect(await history.removeSession(owner, sessionOf(opera))).toBe(3);
        expect(await history.count(owner)).toBe(3);
      }));

    test("[erasure-complete] an erased owner leaves nothing, and erasing again is harmless", () =>
      withHistory(async (history, owner) => {
        await history.addEvents(owner, [...conversation(DINNER), ...conversation(OPERA)]);
        expect(await history.residue(owner)).toBe(7);
        expect(await history.erase(owner)).toBe(7);
        expect(await history.residue(owner)).toBe(0);
        expect(await history.erase(owner)).toBe(0);
        expect(await history.search(owner, { query: "opera" })).toEqual([]);
      }));

    test("an aborted search ends with ABORTED and does no work", () =>
      withHistory(async (history, owner) => {
        await history.addEvents(owner, conversation(OPERA));
        await expect(history.search(owner, { query: "opera", signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "ABORTED" });
      }));

    test("odd queries are answered: stop words alone, emptiness, signs, very long texts", () =>
      withHistory(async (history, owner) => {
        await history.addEvents(owner, conversation(OPERA));
        for (const query of ["the of and", "", "?!…", "🎷", "opera ".repeat(2_000)])
          expect(Array.isArray(await history.search(owner, { query })), query.slice(0, 10)).toBe(true);
      }));
  });
}
