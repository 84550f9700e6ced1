import { describe, expect, test } from "vitest";
import { Catalogue, type CatalogueEvent, type Section } from "../../packages/concierge/src/catalogue.js";
import { candidateOf } from "../../packages/concierge/src/need-check.js";
import { CONCIERGE_NEEDS } from "../../packages/concierge/src/needs.js";
import { CONCIERGE_WORDS } from "../../packages/concierge/src/words.js";
import type { Memory } from "../../src/domain/memory.js";
import { ownerOf } from "../../src/domain/owner.js";
import { ConstraintGate, type ReadNow, type WrittenBack } from "../../src/gate/constraint-gate.js";
import { judge, type Party, type Verdict } from "../../src/gate/verdict.js";
import { AppError } from "../../src/platform/errors.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { ToolContext } from "../../src/ports/agent.js";
import type { StandingNeeds } from "../../src/ports/memories.js";
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

function outcome({ conflicts, mentions, unchecked }: Verdict): "pass" | "stop" | "mention" | "unchecked" {
  if (conflicts.length > 0) return "stop";
  if (unchecked) return "unchecked";
  return mentions.length > 0 ? "mention" : "pass";
}
const party = (more: Partial<Party> = {}): Party => ({ companions: [], absent: [], size: 1, said: [], sessionId: "now", ...more });
const need = (name: string | null, more: Partial<Memory> = {}) => constraint(`Needs ${name}`, "other", "self", { need: name, ...more });

interface Row {
  readonly need: string | null;
  readonly slug: string;
  readonly section: string;
  readonly outcome: ReturnType<typeof outcome>;
  readonly why?: RegExp;
}

/** What is held against what. Lifts, clubs in cellars, theatres whose stalls alone are step-free, kitchens. */
const TABLE: readonly Row[] = [
  { need: "step_free", slug: "marta-vale-quartet", section: "Bar", outcome: "pass" },
  { need: "step_free", slug: "night-shift-trio", section: "Bar", outcome: "stop", why: /not step-free.*stairs only/ },
  { need: "step_free", slug: "winter-letters", section: "Stalls", outcome: "pass" },
  { need: "step_free", slug: "winter-letters", section: "Gallery", outcome: "stop", why: /Gallery/ },
  { need: "hearing_loop", slug: "winter-letters", section: "Circle", outcome: "pass" },
  { need: "hearing_loop", slug: "marta-vale-quartet", section: "Bar", outcome: "stop", why: /no hearing loop/ },
  { need: "assistance_dog", slug: "galley-grill", section: "Dining room", outcome: "stop", why: /dogs/ },
  { need: "no_nuts", slug: "marta-vale-quartet", section: "Bar", outcome: "pass" },
  { need: "no_nuts", slug: "plum-tasting", section: "Dining room", outcome: "stop", why: /can't be served without nuts/ },
  { need: "no_nuts", slug: "garden-table", section: "Dining room", outcome: "pass" },
  { need: "no_soy", slug: "garden-table", section: "Dining room", outcome: "mention", why: /not stated/ },
  { need: "no_gluten", slug: "pier-brunch", section: "Dining room", outcome: "stop", why: /gluten/ },
  { need: "vegan", slug: "ash-and-tide", section: "Dining room", outcome: "stop", why: /no vegan menu/ },
  { need: "vegetarian", slug: "garden-table", section: "Dining room", outcome: "pass" },
  { need: "pescatarian", slug: "garden-table", section: "Dining room", outcome: "pass" },
  { need: "halal", slug: "seven-courses-by-the-river", section: "Dining room", outcome: "stop" },
  { need: "other", slug: "marta-vale-quartet", section: "Bar", outcome: "mention", why: /not stated/ },
  // As a model may have called it.
  { need: "wheelchair", slug: "night-shift-trio", section: "Bar", outcome: "stop", why: /not step-free/ },
  { need: "Gluten-free", slug: "pier-brunch", section: "Dining room", outcome: "stop", why: /gluten/ },
  // What was kept before needs had names, and a name that the concierge doesn't have.
  { need: null, slug: "night-shift-trio", section: "Bar", outcome: "mention" },
  { need: "constructor", slug: "night-shift-trio", section: "Bar", outcome: "mention" },
];

describe("which need is held against what", () => {
  test.each([
    ["garden-table", "Dining room", "tree nuts", "pass"],
    ["garden-table", "Dining room", "nuts and milk", "mention"],
    ["plum-tasting", "Dining room", "nuts and milk", "stop"],
    ["marta-vale-quartet", "Bar", "nuts and milk", "pass"],
  ] as const)("no_nuts × %s, %s, of a memory about %s: %s", (slug, where, about, expected) => {
    const of = event(slug);
    expect(outcome(judge({ known: [need("no_nuts", { about })], complete: true }, candidateOf(of, section(of, where)), party(), NOW))).toBe(
      expected,
    );
  });

  test.each(TABLE.map((row) => [`${row.need} × ${row.slug}, ${row.section}: ${row.outcome}`, row] as const))("%s", (_, row) => {
    const of = event(row.slug);
    const memory = need(row.need);
    const verdict = judge({ known: [memory], complete: true }, candidateOf(of, section(of, row.section)), party(), NOW);
    expect(outcome(verdict)).toBe(row.outcome);
    if (row.outcome === "stop")
      expect(verdict.conflicts).toMatchObject([{ memoryId: memory.id, memory: memory.text, source: memory.source }]);
    if (row.outcome === "mention") expect(verdict.mentions).toMatchObject([{ id: memory.id }]);
    if (row.why) expect(verdict.conflicts[0]?.because ?? verdict.mentions[0]?.line).toMatch(row.why);
  });

  test("no words of a memory are read", () => {
    const of = event("plum-tasting");
    const memory = constraint("Can't climb stairs, allergic to nuts", "dietary", "self", { need: "no_egg" });
    expect(outcome(judge({ known: [memory], complete: true }, candidateOf(of, section(of, "Dining room")), party(), NOW))).toBe("mention");
  });

  test("every word list is of a need that there is", () => {
    const known: readonly string[] = CONCIERGE_NEEDS.map(({ name }) => name);
    expect(CONCIERGE_WORDS.needs.map(({ need }) => need).filter((need) => need !== "other" && !known.includes(need))).toEqual([]);
  });

  test("every need has a line for the model that reads, words for the stand-in, and the catalogue knows it somewhere", () => {
    for (const { name, description, words = [] } of CONCIERGE_NEEDS) {
      expect(description).not.toBe("");
      expect([name, words.length > 0]).toEqual([name, true]);
      const states = catalogue.onSale(NOW).flatMap((of) => [of.states, ...of.sections.map((each) => each.states)]);
      expect(states.some(({ meets, breaks }) => meets.includes(name) || breaks.includes(name)) || name === "no_soy").toBe(true);
    }
  });
});

describe("which memories count", () => {
  const of = event("night-shift-trio");
  const verdictOn = (memory: Memory) => judge({ known: [memory], complete: true }, candidateOf(of, section(of, "Bar")), party(), NOW);

  test("a need whose date has passed stops nothing, whatever the store gives", () => {
    expect(outcome(verdictOn(need("step_free", { valid_until: "2026-03-11T09:59:59Z" })))).toBe("pass");
    expect(outcome(verdictOn(need("step_free", { valid_until: "2026-03-11T10:00:01Z" })))).toBe("stop");
  });
  test("one that begins before the event counts, and one that begins after it doesn't", () => {
    expect(outcome(verdictOn(need("step_free", { valid_from: "2026-03-12T00:00:00Z" })))).toBe("stop");
    expect(outcome(verdictOn(need("step_free", { valid_from: "2027-03-12T00:00:00Z" })))).toBe("pass");
  });
  test("one that waits for the guest's word stops like one that holds, and the answer asks for it", () => {
    expect(verdictOn(need("step_free", { status: "review", reason: "unsure" })).conflicts).toMatchObject([{ toConfirm: true }]);
    expect(verdictOn(need("step_free")).conflicts).toMatchObject([{ toConfirm: false }]);
  });
  test("one that came from brought-along text never stops; it is mentioned", () => {
    expect(outcome(verdictOn(need("step_free", { status: "review", reason: "brought_along" })))).toBe("mention");
  });
  test("one that holds at times is told with when that is, unless it says so itself", () => {
    const told = (condition: string) => verdictOn(need("step_free", { condition })).conflicts[0]?.memory;
    expect(told("when I'm alone")).toBe("Needs step_free (only when I'm alone)");
    expect([told(""), told("STEP_FREE")]).toEqual(["Needs step_free", "Needs step_free"]);
    expect(verdictOn(need("other", { condition: "for opera" })).mentions[0]?.line).toMatch(/^Needs other \(only for opera\)\. /);
  });
  test("a diet is met where it is seen to, and not by a concert without a kitchen", () => {
    const dinner = event("plum-tasting");
    const both = [need("vegetarian"), need("step_free")];
    const metAt = (where: CatalogueEvent, name: string) =>
      judge({ known: both, complete: true }, candidateOf(where, section(where, name)), party(), NOW).met;
    const concert = event("kastanien-quartet");
    expect(metAt(concert, "Stalls")).toEqual(["Needs step_free"]);
    expect(metAt(dinner, "Dining room")).toContain("Needs vegetarian");
  });
  test.each([{ strength: "soft" }, { status: "superseded" }, { status: "forgotten" }] as const)("%j does not count", (more) => {
    expect(outcome(verdictOn(need("step_free", more)))).toBe("pass");
  });
});

describe("companions", () => {
  const of = event("plum-tasting");
  const allergy = (subject: string, more: Partial<Memory> = {}) =>
    constraint("Is allergic to nuts", "dietary", `companion:${subject}`, { need: "no_nuts", ...more });
  const at = (memory: Memory, more: Partial<Party>) =>
    judge({ known: [memory], complete: true }, candidateOf(of, section(of, "Dining room")), party(more), NOW);

  test.each<[string, Memory, Partial<Party>, ReturnType<typeof outcome>]>([
    ["named in the booking", allergy("mother"), { companions: ["mother"], size: 2 }, "stop"],
    ["named by another word for the relation", allergy("mother"), { companions: ["my mum"], size: 2 }, "stop"],
    ["named by a name that the memory holds", allergy("husband", { entities: ["Jon"] }), { companions: ["Jon"], size: 2 }, "stop"],
    ["the whole family", allergy("mother"), { companions: ["family"], size: 4 }, "stop"],
    ["a colleague is no family", allergy("colleague"), { companions: ["family"], size: 4 }, "mention"],
    ["the guest alone", allergy("mother"), { size: 1 }, "pass"],
    ["somebody else comes, and nobody beside", allergy("mother"), { companions: ["colleague"], size: 2 }, "pass"],
    ["a name that nobody has, which may be hers", allergy("mother"), { companions: ["Sam"], size: 2 }, "mention"],
    ["another than the one whose name is known", allergy("husband", { entities: ["Jon"] }), { companions: ["Sam"], size: 2 }, "pass"],
    [
      "by a name that stands in the guest's words for the need",
      allergy("wife", { source: { session_id: "earlier", turn: 1, message_id: "m", quote: "my wife Ana is allergic to nuts" } }),
      { companions: ["Ana"], size: 2 },
      "stop",
    ],
    [
      "spoken of before: dinner with Jon, then a table for two",
      allergy("husband", { entities: ["Jon"] }),
      { size: 2, said: ["dinner with Jon"] },
      "stop",
    ],
    ["spoken of in this message", allergy("mother"), { size: 2, said: ["for me and my Mom"] }, "stop"],
    [
      "their need was said in this session",
      allergy("mother", { source: { session_id: "now", turn: 1, message_id: "m", quote: "q" } }),
      { size: 2 },
      "stop",
    ],
    ["nobody said who comes", allergy("mother"), { size: 2 }, "mention"],
    [
      "spoken of, but every seat is somebody else's",
      allergy("mother"),
      { companions: ["colleague"], size: 2, said: ["my mother sends her love"] },
      "pass",
    ],
    ["said not to come", allergy("mother"), { absent: ["mum"], size: 2, said: ["my mum can't come"] }, "pass"],
    ["another's mother by another word", allergy("Ida's mother"), { companions: ["Ida's mum"], size: 2 }, "stop"],
    ["the mother of a wife is a mother-in-law", allergy("mother-in-law"), { companions: ["my wife's mum"], size: 2 }, "stop"],
    ["her mum, beside a wife who is named", allergy("mother-in-law"), { companions: ["Ida", "her mum"], size: 3 }, "mention"],
    ["a named wife's mother", allergy("wife's mother"), { companions: ["Inés", "Inés's mother"], size: 3 }, "mention"],
    [
      "another's mother, as the guest called her when they told the need",
      allergy("mother-in-law", { source: { session_id: "earlier", turn: 1, message_id: "m", quote: "Ida's mother is allergic to nuts" } }),
      { companions: ["Ida's mother"], size: 2 },
      "stop",
    ],
    [
      "by the relation that stands beside the name in what was told",
      allergy("Lea", { text: "Sister Lea is allergic to nuts" }),
      { companions: ["Schwester", "Max"], size: 3 },
      "stop",
    ],
    [
      "by a relation that was told with the name",
      allergy("Lea", { source: { session_id: "earlier", turn: 1, message_id: "m", quote: "Lea, my sister, is allergic to nuts" } }),
      { companions: ["sister"], size: 2 },
      "mention",
    ],
    [
      "by another relation than the one that was told with the name",
      allergy("Lea", { text: "Sister Lea is allergic to nuts" }),
      { companions: ["brother"], size: 2 },
      "pass",
    ],
    ["a name that may be hers", allergy("Ida's mother"), { companions: ["Carmen"], size: 2 }, "mention"],
    ["the mother of somebody else", allergy("Ida's mother"), { companions: ["Inés's mother"], size: 2 }, "pass"],
    ["the guest's own mother", allergy("mother-in-law"), { companions: ["mother"], size: 2 }, "pass"],
    ["a daughter whose name is known", allergy("daughter Emma"), { companions: ["my daughter"], size: 2 }, "stop"],
    ["a name that is spelled alike", allergy("Anna"), { companions: ["Ana"], size: 2 }, "mention"],
    ["another name", allergy("Anna"), { companions: ["Hanna"], size: 2 }, "pass"],
    ["by the name alone", allergy("daughter Emma"), { companions: ["Emma"], size: 2 }, "stop"],
    [
      "a friend without a name, who may be a friend that is known",
      allergy("Anna", { text: "Friend Anna is allergic to nuts" }),
      { companions: ["my friend"], size: 2 },
      "mention",
    ],
    ["a friend without a name, after one was spoken of", allergy("Olaf"), { companions: ["a friend"], size: 2, said: ["Olaf"] }, "mention"],
    ["a friend without a name, and somebody else is known", allergy("Olaf"), { companions: ["a friend"], size: 2 }, "pass"],
    ["a name within another word is nobody", allergy("Jon"), { size: 2, said: ["Jonathan's place"] }, "mention"],
  ])("%s", (_, memory, more, expected) => {
    expect(outcome(at(memory, more))).toBe(expected);
  });

  test("who comes by another name is one person in the party", () => {
    const lea = allergy("Lea", { text: "Sister Lea is allergic to nuts" });
    expect(at(lea, { companions: ["sister"], size: 2 })).toMatchObject({ along: [], conflicts: [{ who: "Lea" }] });
    expect(outcome(at(lea, { absent: ["sister"], companions: ["Max"], size: 2 }))).toBe("pass");
  });

  test("whom nobody named is only named, once it would matter", () => {
    expect(at(allergy("mother"), { size: 2 }).mentions).toMatchObject([
      { along: false, line: expect.stringMatching(/^If mother comes along: Is allergic to nuts/) },
    ]);
    expect(at(allergy("mother"), { size: 2, said: ["with my mother"] })).toMatchObject({
      along: ["mother"],
      conflicts: [{ who: "mother" }],
    });
  });
});

describe("the gate's own read", () => {
  const of = event("night-shift-trio");
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
  type Needs = StandingNeeds["needs"];
  const gateOf = (needs: Needs, writtenBack: WrittenBack = async () => expect.fail("it waited"), readNow?: ReadNow) =>
    new ConstraintGate({
      needs: { needs },
      writtenBack,
      ...(readNow && { readNow }),
      logger: silentLogger,
      readMs: 20,
      writeBackWaitMs: 20,
    });
  const verdict = async (needs: Needs, more: Partial<ToolContext> = {}) =>
    outcome((await gateOf(needs).read(context(more), { toBook: false }))(candidateOf(of, section(of, "Bar")), party()));
  const down: Needs = async () => {
    throw new AppError("LONG_TERM_MEMORY_UNAVAILABLE");
  };

  test("asks for the owner's needs at the turn's time, whatever was recalled", async () => {
    const asked: unknown[] = [];
    const seen = await verdict(async (owner, { now }) => {
      asked.push([owner, now]);
      return [need("step_free")];
    });
    expect(asked).toEqual([["default:ann", NOW]]);
    expect(seen).toBe("stop");
  });

  test("a store that is down is not a store without constraints", async () => {
    expect(await verdict(down)).toBe("unchecked");
  });
  test("nor is one that fails in another way", async () => {
    expect(await verdict(async () => Promise.reject(new TypeError("odd")))).toBe("unchecked");
  });
  test("nor one that never answers and pays no heed to its signal", async () => {
    expect(await verdict(() => new Promise<readonly Memory[]>(() => {}))).toBe("unchecked");
  });
  test("nor is long-term memory that is switched off, which keeps no need that was said", async () => {
    const disabled = async () => Promise.reject(new AppError("LONG_TERM_MEMORY_DISABLED"));
    expect(await verdict(disabled)).toBe("unchecked");
  });
  test("an incognito turn is not looked up, and is not taken for one without constraints", async () => {
    const unread = async () => expect.fail("it was read");
    expect(await verdict(unread, { memory: "off" })).toBe("unchecked");
  });

  test("of a look-up waits too where its own message tells of a need, and then finds it", async () => {
    const memories: Memory[] = [];
    const gate = new ConstraintGate({
      needs: { needs: async () => [...memories] },
      writtenBack: async () => true,
      readNow: async () => void memories.push(need("step_free")),
      tellsNeed: (text) => text.includes("stairs"),
      logger: silentLogger,
    });
    const looked = async (content: string) => {
      const judge = await gate.read(context({ userMessage: { id: "m", content } }), { toBook: false });
      return outcome(judge(candidateOf(of, section(of, "Bar")), party()));
    };
    expect([await looked("Any jazz?"), await looked("Any jazz? I can't do stairs.")]).toEqual(["pass", "stop"]);
  });

  describe("to book", () => {
    const booking = async (needs: Needs, writtenBack: WrittenBack, more: Partial<ToolContext> = {}, readNow?: ReadNow) =>
      outcome(
        (await gateOf(needs, writtenBack, readNow).read(context(more), { toBook: true }))(candidateOf(of, section(of, "Bar")), party()),
      );
    const none: Needs = async () => [];

    test("it reads again when what the owner said is in memory", async () => {
      const memories: Memory[] = [];
      const writtenBack: WrittenBack = async (owner) => {
        expect(owner).toBe(ownerOf("default", "ann"));
        memories.push(need("step_free"));
        return true;
      };
      expect(await booking(async () => [...memories], writtenBack)).toBe("stop");
    });
    test("what is not in memory after the wait is not taken for nothing", async () => {
      expect(await booking(none, async () => false)).toBe("unchecked");
      expect(await booking(none, async () => Promise.reject(new TypeError("odd")))).toBe("unchecked");
    });
    test("nor is it where the wait pays no heed to its bound", async () => {
      expect(await booking(none, () => new Promise(() => {}))).toBe("unchecked");
    });
    test("it doesn't wait where the store is down, or nothing is kept", async () => {
      const waits = async () => expect.fail("it waited");
      expect(await booking(down, waits)).toBe("unchecked");
      expect(await booking(async () => Promise.reject(new AppError("LONG_TERM_MEMORY_DISABLED")), waits)).toBe("unchecked");
      expect(await booking(none, waits, { memory: "off" })).toBe("unchecked");
    });
    test("what the guest says in this very message is in memory before it is read", async () => {
      const memories: Memory[] = [];
      const readNow: ReadNow = async ({ userMessage }) => {
        expect(userMessage.content).toBe("Book it");
        memories.push(need("step_free"));
      };
      expect(
        await booking(
          async () => [...memories],
          async () => true,
          {},
          readNow,
        ),
      ).toBe("stop");
    });
    test("a message that can't be read now is not taken for one that says nothing", async () => {
      const fails: ReadNow = async () => Promise.reject(new AppError("MODEL_UNAVAILABLE"));
      expect(await booking(none, async () => true, {}, fails)).toBe("unchecked");
      expect(
        await booking(
          none,
          async () => true,
          {},
          () => new Promise(() => {}),
        ),
      ).toBe("unchecked");
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
