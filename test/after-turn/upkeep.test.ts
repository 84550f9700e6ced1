import { describe, expect, test } from "vitest";
import { CONCIERGE_CATEGORIES } from "../../packages/concierge/src/categories.js";
import { deriveTopic } from "../../src/after-turn/topic.js";
import { SessionUpkeep } from "../../src/after-turn/upkeep.js";
import { statementSchema } from "../../src/domain/memory.js";
import { memoryOf } from "../../src/domain/memory-record.js";
import { journalRecordSchema } from "../../src/domain/session.js";
import { recordFrom } from "../../src/memories/statement-record.js";
import { AppError } from "../../src/platform/errors.js";
import { newId } from "../../src/platform/ids.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { ChatModel } from "../../src/ports/agent.js";
import type { Memories } from "../../src/ports/memories.js";
import { step } from "../support/rounds.js";
import { alice } from "../support/session-world.js";
import { makeSummaryWorld, scribe } from "./upkeep-world.js";

function record(seq: number, type: string, turn: number, body: unknown) {
  return journalRecordSchema.parse({ v: 1, seq, type, id: `r${seq}`, turn, at: "2026-03-01T09:00:00.000Z", body });
}

describe("topic and tags", () => {
  test("come from the names that are spoken of, the categories of what was learned, and the tools that were used", () => {
    const learnt = ["genre", "genre", "other", "dietary"].map((category) => ({ category, turn: 1 }));
    const said = [
      record(1, "message", 1, { role: "user", content: "I would like to see Diana Krall in Lisbon." }),
      record(2, "step", 1, step("c1", 0, {})),
      record(3, "step", 1, { ...step("c2", 0, {}, "it failed"), name: "book_tickets" }),
      record(4, "message", 1, {
        role: "assistant",
        content: "There is a concert in Lisbon, and one in Porto, with Maria Joao.",
        outcome: "completed",
      }),
      record(5, "message", 2, { role: "user", content: "The one in Lisbon." }),
    ];
    expect(deriveTopic(said, learnt)).toEqual({
      topic: "Lisbon, Diana Krall",
      tags: ["genre", "dietary", "lisbon", "diana-krall", "porto", "search-events"],
    });
  });

  test("one long list in an answer does not outvote what the user speaks of", () => {
    const list = Array.from({ length: 30 }, () => "We offer Fado.").join(" ");
    const derived = deriveTopic([
      record(1, "message", 1, { role: "user", content: "Anything for my friend Amara?" }),
      record(2, "message", 1, { role: "assistant", content: list, outcome: "completed" }),
    ]);
    expect(derived.topic?.split(", ")[0]).toBe("Amara");
  });

  test.each([
    "Anything in Lisbon on Saturday, or in November? Or Friday Evening, or on Sunday's date, Nov. 3rd, at 8 PM?",
    "Gibt es am Samstag etwas in Lisbon? Oder am Freitagabend um 20 Uhr, oder im März?",
    "Y en a-t-il à Lisbon le Samedi, ou en Août?",
    "¿Hay algo en Lisbon el Sábado, o en Septiembre?",
    "C'è qualcosa a Lisbon il Mercoledì, o in Agosto?",
  ])("weekdays and months are none: %s", (content) => {
    const { topic, tags } = deriveTopic([record(1, "message", 1, { role: "user", content })]);
    expect([topic, tags]).toEqual(["Lisbon", ["lisbon"]]);
  });

  test("a day in a name is part of it, and an id is shown in words", () => {
    expect(deriveTopic([record(1, "message", 1, { role: "user", content: "Two for Friday Night Jazz, please." })]).topic).toBe(
      "Friday Night Jazz",
    );
    const learnt = ["genre", "party_size"].map((category) => ({ category, turn: 1 }));
    expect(deriveTopic([], learnt)).toEqual({ topic: "Genre, party size", tags: ["genre", "party-size"] });
  });

  test("a secret is none, in whoever's words", () => {
    const derived = deriveTopic([
      record(1, "message", 1, { role: "user", content: "My password is Blue Horse Battery. Anything in Lisbon?" }),
      record(2, "message", 1, { role: "assistant", content: "Your passphrase is Blue Horse Battery.", outcome: "completed" }),
    ]);
    expect(derived).toEqual({ topic: "Lisbon", tags: ["lisbon"] });
  });

  test("of a session where nothing stands out are none", () => {
    expect(deriveTopic([record(1, "message", 1, { role: "user", content: "hello there" })])).toEqual({ topic: null, tags: [] });
  });
});

const nothingLearnt: Pick<Memories, "list"> = { list: async () => ({ data: [], nextCursor: null }) };

async function makeUpkeepWorld(model: ChatModel | null = null, memories = nothingLearnt) {
  const world = await makeSummaryWorld();
  const { store, writer, ledger, registry, clock, keeper } = world;
  const upkeep = new SessionUpkeep({
    store,
    writer,
    summaries: keeper,
    ledger,
    memories,
    model,
    gate: registry,
    clock,
    logger: silentLogger,
  });
  return Object.assign(world, { upkeep });
}

test("[merge-undone] names that a session is given tell nothing of what was taken out of it meanwhile", async () => {
  const { store, sessions, say, upkeep } = await makeUpkeepWorld(scribe("A trip to Rome"));
  const { id } = await sessions.create(alice, {});
  await say(alice, id, "I want to go to Rome.", "Noted: Rome.");
  await say(alice, id, "What is on in Lisbon?", "Fado.");
  const { locks, journal } = store;
  const acquire = locks.acquire.bind(locks);
  locks.acquire = async (key, options) => {
    await journal.rewrite(alice, id, (record) => (record.type === "message" && record.turn === 1 ? null : record));
    return acquire(key, options);
  };
  await upkeep.afterTurn(alice, id);
  const { topic, tags, title } = await sessions.get(alice, id);
  expect(topic).toBe("Lisbon");
  expect(JSON.stringify([tags, title])).not.toMatch(/trip|rome"/i);
});

describe("[forgotten-untold] after something was forgotten", () => {
  const SUMBERRIES = "I'm allergic to sumberries and I like Jazz.";

  async function makeForgettingWorld(model: ChatModel | null = null) {
    const world = await makeUpkeepWorld(model);
    const { sessions, ledger, clock, upkeep } = world;
    const firstMessage = async (id: string) => (await sessions.messages(alice, id, {})).data[0]?.id ?? "";
    /** Forgets what was said in a message. */
    const forget = async (messageId: string) => {
      const at = clock.now().toISOString();
      await ledger.addTombstones(alice, [{ memoryId: `memory-${at}`, messageIds: [messageId], textHash: "h", at }]);
    };
    const titleOf = async (id: string) => (await sessions.get(alice, id)).title;
    return Object.assign(world, { firstMessage, forget, titleOf, upkeep });
  }

  test("a derived title is the first other message, and the forgotten words are in no title, topic or tag", async () => {
    const { sessions, say, upkeep, firstMessage, forget, titleOf } = await makeForgettingWorld();
    const { id } = await sessions.create(alice, {});
    await say(alice, id, "I'm allergic to Sumberries.", "Noted: Sumberries.");
    await upkeep.afterTurn(alice, id);
    await say(alice, id, "What is on in Lisbon?", "Fado.");
    expect(await sessions.get(alice, id)).toMatchObject({ title: "I'm allergic to Sumberries.", topic: "Sumberries" });
    await forget(await firstMessage(id));
    await upkeep.forgotten(alice);
    expect(await sessions.get(alice, id)).toMatchObject({ title: "What is on in Lisbon?", topic: "Lisbon" });
    expect(JSON.stringify(await sessions.get(alice, id))).not.toMatch(/sumberries/i);
    await upkeep.forgotten(alice);
    expect(await titleOf(id)).toBe("What is on in Lisbon?");
  });

  test("a session of that one message has none until something else is said, archived as it may be", async () => {
    const { sessions, say, upkeep, firstMessage, forget, titleOf } = await makeForgettingWorld();
    const [open, archived] = [await sessions.create(alice, {}), await sessions.create(alice, {})];
    for (const { id } of [open, archived]) {
      await say(alice, id, SUMBERRIES, "Noted.");
      await forget(await firstMessage(id));
    }
    await sessions.patch(alice, archived.id, { status: "archived" });
    await upkeep.forgotten(alice);
    expect([await titleOf(open.id), await titleOf(archived.id)]).toEqual([null, null]);
    await say(alice, open.id, "Good evening!", "Good evening.");
    expect(await titleOf(open.id)).toBe("Good evening!");
  });

  test("the user's own title stays, an incognito session's, and one that was made of another message", async () => {
    const { sessions, say, upkeep, firstMessage, forget, titleOf } = await makeForgettingWorld();
    const own = await sessions.create(alice, { title: "Sumberries" });
    const incognito = await sessions.create(alice, { metadata: { incognito: true } });
    const other = await sessions.create(alice, {});
    await say(alice, other.id, "Good evening!", "Good evening.");
    for (const { id } of [own, incognito, other]) await say(alice, id, SUMBERRIES, "Noted.");
    await forget(await firstMessage(own.id));
    await forget(await firstMessage(incognito.id));
    await forget((await sessions.messages(alice, other.id, {})).data[2]?.id ?? "");
    await upkeep.forgotten(alice);
    expect([await titleOf(own.id), await titleOf(incognito.id), await titleOf(other.id)]).toEqual([
      "Sumberries",
      SUMBERRIES,
      "Good evening!",
    ]);
  });

  test("a model's name of before goes, and it names the session anew without what was forgotten", async () => {
    const model = scribe("Allergic to sumberries", "Fado in Lisbon");
    const { sessions, say, upkeep, firstMessage, forget, titleOf } = await makeForgettingWorld(model);
    const { id } = await sessions.create(alice, {});
    await say(alice, id, SUMBERRIES, "Noted.");
    await upkeep.afterTurn(alice, id);
    expect(await titleOf(id)).toBe("Allergic to sumberries");
    await forget(await firstMessage(id));
    await upkeep.forgotten(alice);
    expect(await titleOf(id)).toBeNull();
    await say(alice, id, "What is on in Lisbon?", "Fado.");
    await upkeep.afterTurn(alice, id);
    expect(await titleOf(id)).toBe("Fado in Lisbon");
    expect(model.asked[1]).not.toMatch(/sumberries/i);
    await upkeep.forgotten(alice);
    expect(await titleOf(id)).toBe("Fado in Lisbon");
  });

  test("what the user asked not to keep is in no title, topic or tag either, and a fork's neither", async () => {
    const { sessions, say, upkeep, firstMessage, titleOf, writer, clock } = await makeForgettingWorld();
    const { id } = await sessions.create(alice, {});
    await say(alice, id, "I'm allergic to Sumberries, don't keep that.", "I will not keep this.");
    await upkeep.afterTurn(alice, id);
    expect(await sessions.get(alice, id)).toMatchObject({ title: "I'm allergic to Sumberries, don't keep that.", topic: "Sumberries" });
    const message = await firstMessage(id);
    const offRecord = async () => {
      const at = clock.now().toISOString();
      const body = { of_turn: 1, message_ids: [message] };
      await writer.append(alice, id, [{ type: "off_record", id: newId(), turn: 1, at, body }]);
      await upkeep.offRecord(alice, id);
    };
    await offRecord();
    expect(JSON.stringify(await sessions.get(alice, id))).not.toMatch(/sumberries/i);
    expect((await sessions.fork(alice, id, message)).title).toBe("New conversation");
    await say(alice, id, "What is on in Lisbon?", "Fado.");
    expect(await titleOf(id)).toBe("What is on in Lisbon?");
    await offRecord();
    expect(await titleOf(id)).toBe("What is on in Lisbon?");
  });

  test("a fork copies no such title, whether it is made before or after", async () => {
    const { sessions, say, upkeep, firstMessage, forget, titleOf } = await makeForgettingWorld();
    const { id } = await sessions.create(alice, {});
    await say(alice, id, SUMBERRIES, "Noted.");
    const message = await firstMessage(id);
    const before = await sessions.fork(alice, id, message);
    expect(before.title).toBe(SUMBERRIES);
    await forget(message);
    expect((await sessions.fork(alice, id, message)).title).toBe("New conversation");
    await upkeep.forgotten(alice);
    expect(await titleOf(before.id)).toBeNull();
  });
});

describe("the upkeep after a turn", () => {
  test("derives topic and tags, and leaves the user's own alone", async () => {
    const { sessions, say, upkeep } = await makeUpkeepWorld();
    const one = await sessions.create(alice, {});
    const two = await sessions.create(alice, { metadata: { topic: "Our honeymoon" } });
    await sessions.patch(alice, two.id, { tags: ["mine"] });
    for (const { id } of [one, two]) {
      await say(alice, id, "We fly to Lisbon.", "Lovely.");
      await upkeep.afterTurn(alice, id);
    }
    expect(await sessions.get(alice, one.id)).toMatchObject({ topic: "Lisbon", tags: ["lisbon"] });
    expect(await sessions.get(alice, two.id)).toMatchObject({ topic: "Our honeymoon", tags: ["mine"] });
  });

  test("its tags tell the categories of what was learnt from it, where memory is on", async () => {
    const asked: unknown[] = [];
    const list: Memories["list"] = async (_owner, { sessionId }) => {
      asked.push(sessionId);
      if (asked.length > 1) throw new AppError("LONG_TERM_MEMORY_DISABLED");
      const source = { session_id: sessionId ?? "", turn: 1, message_id: "m", quote: "I prefer jazz" };
      const statement = statementSchema.parse({ text: "Prefers jazz", category: "genre" });
      const at = "2026-03-01T09:00:00.000Z";
      return {
        data: [memoryOf(recordFrom({ id: "1", statedAt: at, source, statement, waits: null }, new Date(at), CONCIERGE_CATEGORIES))],
        nextCursor: null,
      };
    };
    const { sessions, say, upkeep } = await makeUpkeepWorld(null, { list });
    const tagsOf = async () => {
      const { id } = await sessions.create(alice, {});
      await say(alice, id, "We fly to Lisbon.", "Lovely.");
      await upkeep.afterTurn(alice, id);
      expect(asked.at(-1)).toBe(id);
      return (await sessions.get(alice, id)).tags;
    };
    expect(await tagsOf()).toEqual(["genre", "lisbon"]);
    expect(await tagsOf()).toEqual(["lisbon"]);
  });

  test("reads the session at the 1st, 2nd, 4th, 8th … round only, and writes only what has changed", async () => {
    const { sessions, say, upkeep, records } = await makeUpkeepWorld();
    const { id } = await sessions.create(alice, {});
    for (let turn = 1; turn <= 9; turn += 1) {
      await say(alice, id, turn < 3 ? "We fly to Lisbon." : "We fly to Porto.", "Lovely.");
      await upkeep.afterTurn(alice, id);
    }
    const patches = (await records(alice, id)).flatMap((item) => (item.type === "session_patch" ? [item.body] : []));
    expect(patches.map(({ topic }) => topic)).toEqual(["Lisbon", "Lisbon, Porto", "Porto, Lisbon"]);
  });

  test("a forgotten sentence leaves no tag behind", async () => {
    const { sessions, say, upkeep, ledger, clock } = await makeUpkeepWorld();
    const { id } = await sessions.create(alice, {});
    await say(alice, id, "We fly to Lisbon.", "Lisbon, noted.");
    await upkeep.afterTurn(alice, id);
    const messageId = (await sessions.messages(alice, id, {})).data[0]?.id ?? "";
    await ledger.addTombstone(alice, { memoryId: "m", messageIds: [messageId], textHash: "h", at: clock.now().toISOString() });
    await say(alice, id, "hello", "hi");
    await upkeep.afterTurn(alice, id);
    expect(await sessions.get(alice, id)).toMatchObject({ topic: null, tags: [] });
  });

  test("lets a model name the session once, by its first exchange, and never over the user's own title", async () => {
    const model = scribe('"A weekend in Lisbon."');
    const { sessions, say, upkeep, writer, clock } = await makeUpkeepWorld(model);
    const { id } = await sessions.create(alice, {});
    await say(alice, id, "We fly to Lisbon.", "Lovely.");
    const title = { title: "We fly to Lisbon.", by: "derived" as const };
    await writer.append(alice, id, [{ type: "session_patch", id: "p", turn: 0, at: clock.now().toISOString(), body: title }]);
    await upkeep.afterTurn(alice, id);
    expect((await sessions.get(alice, id)).title).toBe("A weekend in Lisbon");
    await say(alice, id, "And then?", "Porto.");
    await upkeep.afterTurn(alice, id);
    expect(model.asked).toHaveLength(1);

    const own = await sessions.create(alice, { title: "Mine" });
    await say(alice, own.id, "We fly to Lisbon.", "Lovely.");
    await upkeep.afterTurn(alice, own.id);
    expect((await sessions.get(alice, own.id)).title).toBe("Mine");
  });

  test("no title holds a secret, of the message or by a model; one that the user gives is theirs", async () => {
    const model = scribe("Paying with 4111 1111 1111 1111 in Lisbon");
    const { sessions, say, upkeep } = await makeUpkeepWorld(model);
    const { id } = await sessions.create(alice, {});
    await say(alice, id, "Pay with 4111 1111 1111 1111, and a table for two", "Very well.");
    expect((await sessions.get(alice, id)).title).toBe("Pay with …, and a table for two");
    await upkeep.afterTurn(alice, id);
    expect((await sessions.get(alice, id)).title).toBe("Paying with … in Lisbon");
    await sessions.patch(alice, id, { title: "Card 4111 1111 1111 1111" });
    expect((await sessions.get(alice, id)).title).toBe("Card 4111 1111 1111 1111");
  });

  test("never throws", async () => {
    const { sessions, say, upkeep, store } = await makeUpkeepWorld();
    const { id } = await sessions.create(alice, {});
    await say(alice, id, "We fly to Lisbon.", "Lovely.");
    store.journal.read = () => {
      throw new Error("EIO");
    };
    await expect(upkeep.afterTurn(alice, id)).resolves.toBeUndefined();
  });
});
