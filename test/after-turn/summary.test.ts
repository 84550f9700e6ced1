import { once } from "node:events";
import { describe, expect, test, vi } from "vitest";
import { SummaryKeeper } from "../../src/after-turn/summary.js";
import type { Owner } from "../../src/domain/owner.js";
import { isCurrent } from "../../src/domain/summary.js";
import { summaryMessage } from "../../src/history/history.js";
import { silentLogger } from "../../src/platform/logger.js";
import { tokenCounterFor } from "../../src/platform/tokens.js";
import { roundsToRead, shownWindow } from "../../src/turn/window.js";
import { alice } from "../support/session-world.js";
import { makeSummaryWorld, type SummaryWorld, scribe } from "./upkeep-world.js";

const CHATTER = [
  ["What a day, the weather is just lovely, isn't it?", "It is! A good day to be out and about."],
  ["Haha, yes. I like the way you put things.", "Thank you, that is kind of you to say."],
  ["By the way, do you ever get tired of questions?", "Never. Ask me whatever you like."],
  ["Okay, let me think about it for a moment.", "Of course, take all the time that you need."],
  ["Tell me something nice about music.", "Music brings people together, and it makes evenings warmer."],
] as const;

async function chatter(world: SummaryWorld, owner: Owner, id: string, from: number, to: number): Promise<void> {
  for (let turn = from; turn <= to; turn += 1) {
    const [user, assistant] = CHATTER[turn % CHATTER.length] ?? ["", ""];
    await world.say(owner, id, user, assistant);
    await world.keeper.maintain(owner, id);
  }
}

async function summaryOf(world: SummaryWorld, id: string) {
  return (await world.store.journal.window(alice, id, { rounds: 10 })).summary;
}

describe("the rolling summary", () => {
  test("a fact from round 3 is in it at round 60, within its tokens, without a model and without long-term memory", async () => {
    const world = await makeSummaryWorld(null, { maxTokens: 300 });
    const { id } = await world.sessions.create(alice, {});
    await chatter(world, alice, id, 1, 2);
    await world.say(alice, id, "My sister Amara is allergic to walnuts, so no pesto please. She arrives on 14 June.", "Noted.");
    await chatter(world, alice, id, 4, 60);
    const summary = await summaryOf(world, id);
    expect(summary?.body.text).toContain("My sister Amara is allergic to walnuts");
    expect(summary?.body.text).toContain("14 June");
    expect((await tokenCounterFor("gpt-4o")).count(summary?.body.text ?? "")).toBeLessThanOrEqual(300);
    // None of the window's ten rounds has said it.
    const { rounds } = await world.store.journal.window(alice, id, { rounds: 10 });
    expect(JSON.stringify(rounds)).not.toContain("Amara");
    expect((await world.sessions.get(alice, id)).summary).toBe(summary?.body.text);
  });

  test("after every turn, each round is in the window or in the summary, which is written anew only when a block of rounds leaves", async () => {
    const world = await makeSummaryWorld();
    const { id } = await world.sessions.create(alice, {});
    const written = new Set<string>();
    for (let turn = 1; turn <= 40; turn += 1) {
      await chatter(world, alice, id, turn, turn);
      const { summary, rounds } = shownWindow(await world.store.journal.window(alice, id, { rounds: roundsToRead(10) }), 10);
      const oldest = rounds[0]?.turn ?? 1;
      expect(rounds).toHaveLength(turn < 20 ? turn : 10 + (turn % 10));
      expect(summary?.body.to_turn ?? 0).toBe(oldest - 1);
      if (oldest > 1) expect(summary?.body.from_turn).toBe(1);
      if (summary) written.add(summary.id);
    }
    expect(written.size).toBe(3);
  });

  test("one that comes late takes in what came meanwhile, up to the window's ten", async () => {
    const world = await makeSummaryWorld();
    const { id } = await world.sessions.create(alice, {});
    for (let turn = 1; turn <= 23; turn += 1) await world.say(alice, id, `Question ${turn}?`, "An answer.");
    await world.keeper.maintain(alice, id);
    expect((await summaryOf(world, id))?.body).toMatchObject({ from_turn: 1, to_turn: 13 });
    const { rounds } = shownWindow(await world.store.journal.window(alice, id, { rounds: roundsToRead(10) }), 10);
    expect(rounds.map(({ turn }) => turn)).toEqual([14, 15, 16, 17, 18, 19, 20, 21, 22, 23]);
  });

  test("is not written while all rounds are in the window", async () => {
    const world = await makeSummaryWorld();
    const { id } = await world.sessions.create(alice, {});
    await chatter(world, alice, id, 1, 19);
    expect(await summaryOf(world, id)).toBeNull();
  });

  test("takes rounds in that are too large for the context before the window's ten are full", async () => {
    const world = await makeSummaryWorld(null, { windowTokens: 50 });
    const { id } = await world.sessions.create(alice, {});
    await chatter(world, alice, id, 1, 4);
    expect((await summaryOf(world, id))?.body).toMatchObject({ from_turn: 1 });
  });

  test("keeps decisions, numbers and open questions, in the order in which they were said", async () => {
    const world = await makeSummaryWorld(null, { maxTokens: 120, windowRounds: 1, blockRounds: 1 });
    const { id } = await world.sessions.create(alice, {});
    await chatter(world, alice, id, 1, 4);
    await world.say(alice, id, "Book two seats in row F for the Verdi evening.", "Booked: 2 seats in row F, 84.50 EUR, reference VX-4417.");
    await chatter(world, alice, id, 6, 12);
    await world.say(alice, id, "And dinner?", "Would you rather eat at 18:30 or after the show?");
    await world.say(alice, id, "One moment.", "Sure.");
    await world.keeper.maintain(alice, id);
    const text = (await summaryOf(world, id))?.body.text ?? "";
    expect(text).toMatch(/row F.*VX-4417.*18:30 or after the show\?/su);
    expect(text).toContain("Turn 5, user:");
    expect(text).not.toContain("weather");
  });

  test.each([
    ["Chinese", "我对花生过敏，请不要推荐任何含有花生的菜。我们6月14日到达。", "花生过敏"],
    ["German", "Meine Tochter Frieda braucht einen Kinderstuhl, und wir kommen am 14. Juni.", "Frieda braucht einen Kinderstuhl"],
    ["Arabic", "زوجتي ليلى لا تأكل السمك وسنصل يوم 14 يونيو.", "ليلى لا تأكل السمك"],
  ])("keeps facts in any language: %s", async (_language, fact, kept) => {
    const world = await makeSummaryWorld(null, { maxTokens: 200 });
    const { id } = await world.sessions.create(alice, {});
    await world.say(alice, id, fact, "OK");
    await chatter(world, alice, id, 2, 40);
    expect((await summaryOf(world, id))?.body.text).toContain(kept);
  });
});

describe("the summary of a long conversation", () => {
  test("still tells after 130 rounds what was said in the third, and covers all that has left the window", async () => {
    const world = await makeSummaryWorld(null, { maxTokens: 300 });
    const { id } = await world.sessions.create(alice, {});
    await chatter(world, alice, id, 1, 2);
    await world.say(alice, id, "My sister Amara is allergic to walnuts, so no pesto please. She arrives on 14 June.", "Noted.");
    await chatter(world, alice, id, 4, 130);
    const summary = await summaryOf(world, id);
    expect(summary?.body).toMatchObject({ from_turn: 1, to_turn: 120, by: "extract" });
    expect(summary?.body.text).toContain("Turn 3, user: My sister Amara is allergic to walnuts");
  });

  test("is made from the one before and the rounds since: no journal is read as a whole any more", async () => {
    const world = await makeSummaryWorld();
    const { id } = await world.sessions.create(alice, {});
    await chatter(world, alice, id, 1, 110);
    const { journal } = world.store;
    const read = vi.spyOn(journal, "read");
    const window = vi.spyOn(journal, "window");
    await chatter(world, alice, id, 111, 130);
    expect((await summaryOf(world, id))?.body.to_turn).toBe(120);
    expect(Math.max(...window.mock.calls.map(([, , { rounds }]) => rounds))).toBeLessThan(100);
    expect(read.mock.calls.every(([, , options]) => (options?.fromSeq ?? 1) > 100)).toBe(true);
    vi.restoreAllMocks();
  });

  test("is made from all rounds where something was forgotten", async () => {
    const world = await makeSummaryWorld();
    const { id } = await world.sessions.create(alice, {});
    await world.say(alice, id, "I adore Wagner operas since 1998.", "Lovely.");
    await chatter(world, alice, id, 2, 115);
    expect((await summaryOf(world, id))?.body.text).toContain("Wagner");
    const messageId = (await world.sessions.messages(alice, id, { limit: 1 })).data[0]?.id ?? "";
    const at = world.clock.now().toISOString();
    await world.ledger.addTombstone(alice, { memoryId: "m-wagner", messageIds: [messageId], textHash: "h", at });
    await world.keeper.forgotten(alice);
    const summary = await summaryOf(world, id);
    expect(summary?.body).toMatchObject({ from_turn: 1 });
    expect(summary?.body.text).not.toContain("Wagner");
  });

  test("by a model: it is given the record so far and what came after it", async () => {
    const world = await makeSummaryWorld();
    const { id } = await world.sessions.create(alice, {});
    await chatter(world, alice, id, 1, 119);
    const model = scribe("They talked about music and the weather.");
    const { store, writer, ledger, history, registry: gate, clock } = world;
    const counter = await tokenCounterFor("gpt-4o");
    const keeper = new SummaryKeeper(
      { store, writer, ledger, history, model, counter, gate, clock, logger: silentLogger },
      { windowRounds: 10, maxTokens: 2_000 },
    );
    await world.say(alice, id, "Another evening, please.", "Of course.");
    expect(await keeper.maintain(alice, id)).toBe(true);
    expect((await summaryOf(world, id))?.body).toMatchObject({
      text: "They talked about music and the weather.",
      from_turn: 1,
      to_turn: 110,
    });
    const [asked = ""] = model.asked;
    expect(asked).toContain("record_so_far");
    expect(asked).toContain('"turn":101');
    expect(asked).not.toContain('"turn":100,');
  });
});

describe("what was forgotten", () => {
  test("is not in the next summary, nor what was answered with it, and the old summary is not current from then on", async () => {
    const world = await makeSummaryWorld();
    const { id } = await world.sessions.create(alice, {});
    await world.say(alice, id, "I adore Wagner operas since 1998.", "Wagner since 1998, lovely.");
    const recalled = [
      {
        id: "m-wagner",
        text: "Adores Wagner",
        category: "genre",
        strength: "soft" as const,
        score: 1,
        source: null,
        created_at: "2026-03-01T09:00:00.000Z",
      },
    ];
    await world.say(alice, id, "Any ideas for the 3rd of May?", "With your love for the Ring cycle: Bayreuth, 3 May.", {
      assistant: { memory: { status: "ok", write_back: "pending", to_confirm: [], recalled } },
    });
    await chatter(world, alice, id, 3, 20);
    const before = await summaryOf(world, id);
    expect(before?.body.text).toContain("Wagner");
    const messageId = (await world.sessions.messages(alice, id, { limit: 1 })).data[0]?.id ?? "";
    await world.ledger.addTombstone(alice, {
      memoryId: "m-wagner",
      messageIds: [messageId],
      textHash: "h",
      at: world.clock.now().toISOString(),
    });
    expect(isCurrent(before, await world.ledger.tombstones(alice))).toBe(false);

    expect(await world.keeper.forgotten(alice)).toBe(1);
    const after = await summaryOf(world, id);
    expect(after?.body.text).not.toMatch(/Wagner|Ring cycle/u);
    expect(after?.body.text).toContain("3rd of May");
    expect(isCurrent(after, await world.ledger.tombstones(alice))).toBe(true);
    expect(world.history.entries(alice).map((entry) => entry.content)).toEqual([after?.body.text]);
    expect(await world.keeper.forgotten(alice)).toBe(0);
  });

  test("is not in the summary of a fork either", async () => {
    const world = await makeSummaryWorld();
    const { id } = await world.sessions.create(alice, {});
    await world.say(alice, id, "I adore Wagner operas since 1998.", "Noted.");
    const first = (await world.sessions.messages(alice, id, {})).data[0]?.id ?? "";
    const fork = await world.sessions.fork(alice, id, first);
    await world.ledger.addTombstone(alice, { memoryId: "m", messageIds: [first], textHash: "h", at: world.clock.now().toISOString() });
    await chatter(world, alice, fork.id, 2, 20);
    expect((await summaryOf(world, fork.id))?.body.text).not.toContain("Wagner");
  });
});

describe("summaries and search", () => {
  test("one summary of a session can be found, the newest, as a system message of its own id", async () => {
    const world = await makeSummaryWorld();
    const { id } = await world.sessions.create(alice, {});
    await chatter(world, alice, id, 1, 30);
    const summary = await summaryOf(world, id);
    expect(world.history.entries(alice)).toMatchObject([
      {
        message_id: summary?.id,
        session_id: id,
        role: "system",
        name: "summary",
        content: summary?.body.text,
        turn: summary?.body.to_turn,
      },
    ]);
  });

  test("one alone can be found also where the one before is added to history only after the next was written", async () => {
    const world = await makeSummaryWorld();
    const { id } = await world.sessions.create(alice, {});
    await chatter(world, alice, id, 1, 19);
    const { history, keeper } = world;
    const add = history.addEvents.bind(history);
    let held = () => {};
    const isHeld = new Promise<void>((resolve) => {
      history.addEvents = async (owner, messages, options) => {
        history.addEvents = add;
        resolve();
        await new Promise<void>((release) => {
          held = release;
        });
        return add(owner, messages, options);
      };
    });
    await world.say(alice, id, "Message 20", "Answer 20");
    const first = keeper.maintain(alice, id);
    await isHeld;
    expect(await keeper.finish(alice, id)).toBe(true);
    held();
    await first;
    const summaries = world.history.entries(alice).filter(({ role }) => role === "system");
    expect(summaries.map(({ message_id: found }) => found)).toEqual([(await summaryOf(world, id))?.id]);
  });

  test("what the user kept out of memory is in the summary, for the conversation goes on with it, and not in what can be searched", async () => {
    const world = await makeSummaryWorld();
    const { id } = await world.sessions.create(alice, {});
    await world.say(alice, id, "Between us: my PIN hint is Rosebud 77.", "Understood.", { remember: false });
    await world.say(alice, id, "My favourite hall is the Gewandhaus in Leipzig.", "Noted.");
    await chatter(world, alice, id, 3, 20);
    expect((await summaryOf(world, id))?.body.text).toContain("Rosebud");
    const [entry] = world.history.entries(alice);
    expect(entry?.content).toContain("Gewandhaus");
    expect(entry?.content).not.toContain("Rosebud");
    // Rebuilt from the journal it is the same.
    const summary = await summaryOf(world, id);
    expect(summary && summaryMessage(id, summary)).toEqual(entry);
  });

  test("an incognito session has a summary and nothing in history", async () => {
    const world = await makeSummaryWorld();
    const { id } = await world.sessions.create(alice, { metadata: { incognito: true } });
    for (let turn = 1; turn <= 20; turn += 1) await world.say(alice, id, `My number is ${turn}.`, "Yes.", { remember: false });
    expect(await world.keeper.maintain(alice, id)).toBe(true);
    expect(world.history.entries(alice)).toEqual([]);
  });
});

describe("a summary by the model", () => {
  test("is made from the rounds themselves, each time, as long as they fit", async () => {
    const model = scribe("First record.", "Second record.");
    const world = await makeSummaryWorld(model);
    const { id } = await world.sessions.create(alice, {});
    await chatter(world, alice, id, 1, 30);
    expect(model.asked).toHaveLength(2);
    expect(model.asked[1]).toContain('{"turn":1,');
    expect(model.asked[1]).not.toContain("First record.");
    expect((await summaryOf(world, id))?.body).toMatchObject({ text: "Second record.", by: "scribe-1" });
  });

  test("is made from the one before and what came since, once the rounds no longer fit", async () => {
    const model = scribe("First record.", "Second record.");
    const world = await makeSummaryWorld(model, { maxInputTokens: 450 });
    const { id } = await world.sessions.create(alice, {});
    await chatter(world, alice, id, 1, 30);
    expect(model.asked[1]).toContain('{"record_so_far":"First record."}');
    expect(model.asked[1]).not.toContain('{"turn":1,');
    expect((await summaryOf(world, id))?.body.text).toBe("Second record.");
  });

  test("that is too long is cut at a line; one that fails or is empty gives way to an extract", async () => {
    const long = scribe(Array.from({ length: 50 }, (_, line) => `Line ${line} of the record.`).join("\n"));
    const world = await makeSummaryWorld(long, { maxTokens: 60 });
    const { id } = await world.sessions.create(alice, {});
    await chatter(world, alice, id, 1, 20);
    const { text } = (await summaryOf(world, id))?.body ?? { text: "" };
    expect(text).toMatch(/^Line 0 of the record\.\n.*record\.$/su);
    expect((await tokenCounterFor("gpt-4o")).count(text)).toBeLessThanOrEqual(60);

    for (const answer of [new Error("down"), "  "]) {
      const failing = await makeSummaryWorld(scribe(answer));
      const session = await failing.sessions.create(alice, {});
      await chatter(failing, alice, session.id, 1, 20);
      expect((await summaryOf(failing, session.id))?.body).toMatchObject({ by: "extract" });
    }
  });
});

describe("keeping the summary", () => {
  test("never throws: a journal that can't be read is tried again after the next turn", async () => {
    const world = await makeSummaryWorld();
    const { id } = await world.sessions.create(alice, {});
    await chatter(world, alice, id, 1, 19);
    const { window } = world.store.journal;
    world.store.journal.window = async () => {
      throw new Error("EIO");
    };
    await expect(world.keeper.maintain(alice, id)).resolves.toBe(false);
    world.store.journal.window = window;
    await chatter(world, alice, id, 20, 20);
    expect(await summaryOf(world, id)).not.toBeNull();
  });

  test("a history that is out of reach costs the conversation nothing", async () => {
    const world = await makeSummaryWorld();
    world.history.addEvents = async () => {
      throw new Error("down");
    };
    const { id } = await world.sessions.create(alice, {});
    await chatter(world, alice, id, 1, 20);
    expect(await summaryOf(world, id)).not.toBeNull();
  });

  test("a summary of a message that was said again differently meanwhile is not kept", async () => {
    const world = await makeSummaryWorld(null, { windowRounds: 1, blockRounds: 5 });
    const { id } = await world.sessions.create(alice, {});
    await world.say(alice, id, "one", "1");
    await world.say(alice, id, "two, in Rome", "2");
    const { locks, journal } = world.store;
    const acquire = locks.acquire.bind(locks);
    locks.acquire = async (key, options) => {
      locks.acquire = acquire;
      const last = (await journal.window(alice, id, { rounds: 1 })).lastUserMessage;
      const body = { to_seq: (last?.seq ?? 0) - 1, to_offset: 0 };
      await world.writer.append(alice, id, [{ type: "rewind", id: "r", turn: 3, at: world.clock.now().toISOString(), body }]);
      return acquire(key, options);
    };
    expect(await world.keeper.maintain(alice, id)).toBe(false);
    expect(await summaryOf(world, id)).toBeNull();
  });

  test("[merge-undone] a summary of rounds whose first ones were taken out meanwhile is not kept", async () => {
    const world = await makeSummaryWorld(null, { windowRounds: 1, blockRounds: 1 });
    const { id } = await world.sessions.create(alice, {});
    for (const said of ["In Rome", "two", "three"]) await world.say(alice, id, said, "Noted.");
    const { locks, journal } = world.store;
    const acquire = locks.acquire.bind(locks);
    locks.acquire = async (key, options) => {
      locks.acquire = acquire;
      await journal.rewrite(alice, id, (record) => (record.type === "message" && record.turn === 1 ? null : record));
      return acquire(key, options);
    };
    expect(await world.keeper.maintain(alice, id)).toBe(false);
    expect(await summaryOf(world, id)).toBeNull();
  });

  test("at archiving one summary covers all rounds, once", async () => {
    const world = await makeSummaryWorld();
    const { id } = await world.sessions.create(alice, {});
    expect(await world.keeper.finish(alice, id)).toBe(false);
    await world.say(alice, id, "Two seats for 14 June.", "Booked.");
    expect(await world.keeper.finish(alice, id)).toBe(true);
    expect((await summaryOf(world, id))?.body).toMatchObject({ from_turn: 1, to_turn: 1, final: true });
    expect(await world.keeper.finish(alice, id)).toBe(false);
  });

  test("waits for no model: an extract is there at once, and the model's words take its place when they come", async () => {
    let answer: (text: string) => void = () => {};
    const answered = new Promise<string>((resolve) => {
      answer = resolve;
    });
    const model = {
      ...{ name: "slow-1", standIn: false },
      async *stream() {
        yield { type: "text" as const, delta: await answered };
        yield { type: "end" as const, reason: "stop" as const, usage: { input_tokens: 1, output_tokens: 1 } };
      },
    };
    const world = await makeSummaryWorld(model);
    const { id } = await world.sessions.create(alice, {});
    await world.say(alice, id, "Two seats for 14 June.", "Booked.");
    expect(await world.keeper.finish(alice, id)).toBe(true);
    await world.sessions.patch(alice, id, { status: "archived" });
    expect((await summaryOf(world, id))?.body).toMatchObject({ by: "extract", final: true, text: expect.stringContaining("14 June") });
    answer("Booked two seats.");
    await vi.waitFor(async () =>
      expect((await summaryOf(world, id))?.body).toMatchObject({ by: "slow-1", final: true, to_turn: 1, text: "Booked two seats." }),
    );
    expect((await world.sessions.get(alice, id)).status).toBe("archived");
    expect(world.history.entries(alice).map(({ content }) => content)).toEqual(["Booked two seats."]);
  });

  test("a stop while the model writes, or a model that fails, leaves the extract", async () => {
    const hanging = {
      ...{ name: "hanging", standIn: false },
      async *stream(_request: unknown, { signal }: { readonly signal: AbortSignal }) {
        await once(signal, "abort");
        signal.throwIfAborted();
        yield { type: "end" as const, reason: "stop" as const, usage: { input_tokens: 1, output_tokens: 1 } };
      },
    };
    for (const model of [hanging, scribe(new Error("out of order"))]) {
      const world = await makeSummaryWorld(model);
      const { id } = await world.sessions.create(alice, {});
      await world.say(alice, id, "Two seats for 14 June.", "Booked.");
      await world.keeper.finish(alice, id);
      const extract = await summaryOf(world, id);
      await (model === hanging ? world.registry.hold(alice) : world.registry.close());
      expect(extract?.body).toMatchObject({ by: "extract", final: true });
      expect(await summaryOf(world, id)).toEqual(extract);
    }
  });

  test("the model goes on from the rolling summary where the rounds don't fit into one call", async () => {
    const model = scribe("so far", "final 1", "final 2", "final 3", "final 4");
    const world = await makeSummaryWorld(model, { windowRounds: 2, blockRounds: 1, maxInputTokens: 60 });
    const { id } = await world.sessions.create(alice, {});
    for (let turn = 1; turn <= 3; turn += 1)
      await world.say(alice, id, `Seat ${turn} of 14 June, with a view of the stage, please.`, "Booked.");
    await world.keeper.maintain(alice, id);
    await world.keeper.finish(alice, id);
    await world.registry.close();
    expect(model.asked[1]).toContain('{"record_so_far":"so far"}');
    expect((await summaryOf(world, id))?.body.text).toMatch(/^final /);
  });
});
