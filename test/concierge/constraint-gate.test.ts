import { describe, expect, test } from "vitest";
import type { ToolContext } from "../../src/agent.js";
import { Catalogue, type CatalogueEvent, type Section } from "../../src/concierge/catalogue.js";
import { ConstraintGate, judge, TOUCHES, WAIVED_UNCHECKED, type WrittenBack } from "../../src/concierge/constraint-gate.js";
import { AppError } from "../../src/errors.js";
import type { LongTermMemory, Memory } from "../../src/long-term.js";
import { ownerOf } from "../../src/owner.js";
import { silentLogger } from "../../src/platform/logger.js";
import { constraint } from "../support/constraints.js";

const catalogue = new Catalogue();
const NOW = new Date("2026-03-11T10:00:00Z");

function event(slug: string): CatalogueEvent {
  const found = catalogue.onSale(NOW).find(({ id }) => id.startsWith(`${slug}-`));
  if (found === undefined) throw new TypeError(`no ${slug}`);
  return found;
}
function section(of: CatalogueEvent, name: string): Section {
  const found = of.sections.find((each) => each.name === name);
  if (found === undefined) throw new TypeError(`no ${name}`);
  return found;
}

function all(...known: readonly Memory[]) {
  return { known, complete: true };
}

interface Row {
  readonly memory: string;
  readonly category: string;
  readonly subject?: string;
  readonly slug: string;
  readonly section: string;
  readonly companions?: readonly string[];
  readonly words?: string;
  readonly verdict: "pass" | "stop";
  readonly why?: RegExp;
}

/** What is held against what. Lifts, clubs in cellars, theatres whose stalls alone are step-free, kitchens. */
const TABLE: readonly Row[] = [
  // Access: the section's own steps.
  { memory: "Needs step-free access", category: "accessibility", slug: "marta-vale-quartet", section: "Bar", verdict: "pass" },
  {
    memory: "Needs step-free access",
    category: "accessibility",
    slug: "night-shift-trio",
    section: "Bar",
    verdict: "stop",
    why: /not step-free.*stairs only/,
  },
  { memory: "Uses a wheelchair", category: "accessibility", slug: "winter-letters", section: "Stalls", verdict: "pass" },
  { memory: "Uses a wheelchair", category: "accessibility", slug: "winter-letters", section: "Gallery", verdict: "stop", why: /Gallery/ },
  { memory: "Can't climb stairs", category: "accessibility", slug: "blue-chimney", section: "Tables", verdict: "stop" },
  { memory: "Braucht einen stufenlosen Zugang", category: "accessibility", slug: "blue-chimney", section: "Tables", verdict: "stop" },
  { memory: "Needs a hearing loop", category: "accessibility", slug: "winter-letters", section: "Circle", verdict: "pass" },
  {
    memory: "Needs a hearing loop",
    category: "accessibility",
    slug: "marta-vale-quartet",
    section: "Bar",
    verdict: "stop",
    why: /no hearing loop/,
  },
  {
    memory: "Comes with a guide dog",
    category: "accessibility",
    slug: "galley-grill",
    section: "Dining room",
    verdict: "stop",
    why: /dogs/,
  },
  { memory: "Needs low light", category: "accessibility", slug: "marta-vale-quartet", section: "Bar", verdict: "stop", why: /doesn't say/ },
  // Food: where something is served, and only there.
  { memory: "Allergic to nuts", category: "dietary", slug: "marta-vale-quartet", section: "Bar", verdict: "pass" },
  {
    memory: "Allergic to nuts",
    category: "dietary",
    slug: "plum-tasting",
    section: "Dining room",
    verdict: "stop",
    why: /can't be served without nuts/,
  },
  { memory: "Allergic to nuts", category: "dietary", slug: "garden-table", section: "Dining room", verdict: "pass" },
  { memory: "Has a peanut allergy", category: "allergy", slug: "plum-tasting", section: "Dining room", verdict: "stop" },
  { memory: "Allergic to soy", category: "dietary", slug: "garden-table", section: "Dining room", verdict: "stop", why: /doesn't say/ },
  { memory: "Allergic to kiwi", category: "dietary", slug: "garden-table", section: "Dining room", verdict: "stop", why: /says nothing/ },
  { memory: "Is coeliac", category: "dietary", slug: "pier-brunch", section: "Dining room", verdict: "stop", why: /gluten/ },
  { memory: "Eats vegan only", category: "dietary", slug: "ash-and-tide", section: "Dining room", verdict: "stop", why: /no vegan menu/ },
  { memory: "Is vegetarian", category: "dietary", slug: "garden-table", section: "Dining room", verdict: "pass" },
  { memory: "Eats halal", category: "dietary", slug: "seven-courses-by-the-river", section: "Dining room", verdict: "stop" },
  {
    memory: "Is vegetarian and allergic to nuts",
    category: "dietary",
    slug: "plum-tasting",
    section: "Dining room",
    verdict: "stop",
    why: /nuts/,
  },
  // Companions: theirs count when they come along.
  {
    memory: "Allergic to nuts",
    category: "dietary",
    subject: "companion:mother",
    slug: "plum-tasting",
    section: "Dining room",
    verdict: "pass",
  },
  {
    memory: "Allergic to nuts",
    category: "dietary",
    subject: "companion:mother",
    slug: "plum-tasting",
    section: "Dining room",
    companions: ["mother"],
    verdict: "stop",
  },
  {
    memory: "Allergic to nuts",
    category: "dietary",
    subject: "companion:mother",
    slug: "plum-tasting",
    section: "Dining room",
    companions: ["my mum"],
    verdict: "stop",
  },
  {
    memory: "Allergic to nuts",
    category: "dietary",
    subject: "companion:mother",
    slug: "plum-tasting",
    section: "Dining room",
    words: "Book it for me and my Mom",
    verdict: "stop",
  },
  {
    memory: "Allergic to nuts",
    category: "dietary",
    subject: "companion:mother",
    slug: "plum-tasting",
    section: "Dining room",
    words: "a table for the whole family",
    verdict: "stop",
  },
  {
    memory: "Allergic to nuts",
    category: "dietary",
    subject: "companion:mother",
    slug: "plum-tasting",
    section: "Dining room",
    companions: ["Sam"],
    words: "just Sam and me",
    verdict: "pass",
  },
  {
    memory: "Uses a wheelchair",
    category: "accessibility",
    subject: "companion:Sam",
    slug: "night-shift-trio",
    section: "Bar",
    words: "Sam's coming too",
    verdict: "stop",
  },
  {
    memory: "Uses a wheelchair",
    category: "accessibility",
    subject: "companion:Sam",
    slug: "night-shift-trio",
    section: "Bar",
    words: "the same again",
    verdict: "pass",
  },
  // What touches no booking.
  { memory: "Must sit on the aisle", category: "seating", slug: "night-shift-trio", section: "Bar", verdict: "pass" },
  { memory: "Allergic to nuts", category: "constructor", slug: "plum-tasting", section: "Dining room", verdict: "pass" },
];

describe("which constraint is held against what", () => {
  test.each(
    TABLE.map(
      (row) =>
        [`${row.subject ?? "self"}: ${row.memory} × ${row.slug}, ${row.section} (${row.companions ?? row.words ?? "alone"})`, row] as const,
    ),
  )("%s", (_, row) => {
    const of = event(row.slug);
    const memory = constraint(row.memory, row.category, row.subject);
    const party = { companions: row.companions ?? [], words: row.words ?? "Book it for me" };
    const verdict = judge("book_tickets", all(memory), of, section(of, row.section), party, []);
    expect(verdict.state).toBe(row.verdict);
    if (verdict.state === "stop") {
      expect(verdict.conflicts).toMatchObject([{ memoryId: memory.id, memory: row.memory, source: memory.source }]);
      if (row.why) expect(verdict.conflicts[0]?.because).toMatch(row.why);
      // An override is for the memories that were overridden, and no others.
      expect(judge("book_tickets", all(memory), of, section(of, row.section), party, [memory.id]).state).toBe("pass");
      expect(judge("book_tickets", all(memory), of, section(of, row.section), party, ["another"]).state).toBe("stop");
    }
    // Only booking tools are gated.
    expect(judge("search_events", all(memory), of, section(of, row.section), party, []).state).toBe("pass");
  });

  test("a companion's need is a reminder while nobody said that they come", () => {
    const of = event("plum-tasting");
    const verdict = judge(
      "book_tickets",
      all(constraint("Allergic to nuts", "dietary", "companion:mother")),
      of,
      section(of, "Dining room"),
      { companions: [], words: "for two" },
      [],
    );
    expect(verdict).toMatchObject({ state: "pass", reminders: [expect.stringMatching(/If mother comes along: Allergic to nuts/)] });
  });

  test("every category of the table names the tools that it gates and the facts that it is held against", () => {
    expect([...TOUCHES.keys()].sort()).toEqual(["accessibility", "allergy", "dietary"]);
    for (const { tools, fact } of TOUCHES.values()) {
      expect(tools).toEqual(["book_tickets"]);
      expect(fact).not.toBe("");
    }
  });
});

describe("the gate's own read", () => {
  const of = event("night-shift-trio");
  const party = { companions: [], words: "Book it" };
  const context = (more: Partial<ToolContext> = {}): ToolContext => ({
    owner: ownerOf("default", "ann"),
    sessionId: "s",
    turn: 1,
    callId: "c",
    userMessage: { id: "m", content: "Book it" },
    now: NOW,
    timeZone: "UTC",
    signal: new AbortController().signal,
    ...more,
  });
  const gateOf = (constraints: LongTermMemory["constraints"], writtenBack: WrittenBack = async () => expect.fail("it waited")) =>
    new ConstraintGate({ longTerm: { constraints }, writtenBack, logger: silentLogger, readMs: 20, writeBackWaitMs: 20 });
  const verdict = async (constraints: LongTermMemory["constraints"], more: Partial<ToolContext> = {}, waived: readonly string[] = []) =>
    (await gateOf(constraints).read("book_tickets", context(more), { toBook: false }))(of, section(of, "Bar"), party, waived);
  const down: LongTermMemory["constraints"] = async () => {
    throw new AppError("LONG_TERM_MEMORY_UNAVAILABLE");
  };

  test("asks for the owner's constraints at the turn's time, whatever was recalled", async () => {
    const asked: unknown[] = [];
    const seen = await verdict(async (owner, { now }) => {
      asked.push([owner, now]);
      return [constraint("Needs step-free access", "accessibility")];
    });
    expect(asked).toEqual([["default:ann", NOW]]);
    expect(seen.state).toBe("stop");
  });

  test("a store that is down is not a store without constraints", async () => {
    expect(await verdict(down)).toMatchObject({ state: "unchecked" });
  });
  test("nor is one that fails in another way", async () => {
    expect(await verdict(async () => Promise.reject(new TypeError("odd")))).toMatchObject({ state: "unchecked" });
  });
  test("nor one that never answers and pays no heed to its signal", async () => {
    expect(await verdict(() => new Promise<readonly Memory[]>(() => {}))).toMatchObject({ state: "unchecked" });
  });
  test("where the guest said that there is nothing to mind, an unreadable store lets pass", async () => {
    expect((await verdict(down, {}, [WAIVED_UNCHECKED])).state).toBe("pass");
  });
  test("that word does not outweigh a constraint which can be read", async () => {
    expect((await verdict(async () => [constraint("Needs step-free access", "accessibility")], {}, [WAIVED_UNCHECKED])).state).toBe("stop");
  });
  test("with long-term memory disabled there is nothing to check", async () => {
    const disabled = async () => Promise.reject(new AppError("LONG_TERM_MEMORY_DISABLED"));
    expect((await verdict(disabled)).state).toBe("pass");
  });
  test("an incognito turn is not looked up, and is not taken for one without constraints", async () => {
    const unread = async () => expect.fail("it was read");
    expect((await verdict(unread, { memory: "off" })).state).toBe("unchecked");
    expect((await verdict(unread, { memory: "off" }, [WAIVED_UNCHECKED])).state).toBe("pass");
  });

  describe("to book", () => {
    const booking = async (constraints: LongTermMemory["constraints"], writtenBack: WrittenBack, more: Partial<ToolContext> = {}) =>
      (await gateOf(constraints, writtenBack).read("book_tickets", context(more), { toBook: true }))(of, section(of, "Bar"), party, []);
    const none: LongTermMemory["constraints"] = async () => [];

    test("it reads again when what the owner said is in memory", async () => {
      const memories: Memory[] = [];
      const writtenBack: WrittenBack = async (owner) => {
        expect(owner).toBe(ownerOf("default", "ann"));
        memories.push(constraint("Needs step-free access", "accessibility"));
        return true;
      };
      expect((await booking(async () => [...memories], writtenBack)).state).toBe("stop");
    });
    test("what is not in memory after the wait is not taken for nothing", async () => {
      expect((await booking(none, async () => false)).state).toBe("unchecked");
      expect((await booking(none, async () => Promise.reject(new TypeError("odd")))).state).toBe("unchecked");
    });
    test("nor is it where the wait pays no heed to its bound", async () => {
      expect((await booking(none, () => new Promise(() => {}))).state).toBe("unchecked");
    });
    test("it doesn't wait where the store is down, or there is nothing to check", async () => {
      const waits = async () => expect.fail("it waited");
      expect((await booking(down, waits)).state).toBe("unchecked");
      expect((await booking(async () => Promise.reject(new AppError("LONG_TERM_MEMORY_DISABLED")), waits)).state).toBe("pass");
      expect((await booking(none, waits, { memory: "off" })).state).toBe("unchecked");
    });
    test("an aborted turn ends while it waits", async () => {
      const controller = new AbortController();
      const writtenBack: WrittenBack = () => {
        controller.abort(new AppError("ABORTED"));
        return new Promise(() => {});
      };
      await expect(booking(none, writtenBack, { signal: controller.signal })).rejects.toMatchObject({ code: "ABORTED" });
    });
  });
  test("an aborted turn ends", async () => {
    const controller = new AbortController();
    controller.abort(new AppError("ABORTED"));
    await expect(verdict(() => new Promise(() => {}), { signal: controller.signal })).rejects.toMatchObject({ code: "ABORTED" });
  });
});
