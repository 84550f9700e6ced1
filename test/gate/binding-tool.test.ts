import { describe, expect, test } from "vitest";
import { z } from "zod";
import { ToolBox } from "../../src/agent/tool-box.js";
import type { Memory } from "../../src/domain/memory.js";
import { ownerOf } from "../../src/domain/owner.js";
import type { JsonObject } from "../../src/domain/session.js";
import { gatedTools } from "../../src/gate/binding-tool.js";
import { ConstraintGate } from "../../src/gate/constraint-gate.js";
import { ShownCalls } from "../../src/gate/shown-calls.js";
import { softLimits } from "../../src/gate/stated.js";
import { defineDomain, defineTool } from "../../src/index.js";
import { knownNeed } from "../../src/memories/checks/category-and-need.js";
import { AppError } from "../../src/platform/errors.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { Domain, ToolContext } from "../../src/ports/agent.js";
import { committed } from "../../src/state/durable-commit.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { ownerPartition } from "../../src/state/partition.js";
import { constraint } from "../support/constraints.js";

interface Slot {
  readonly id: string;
  readonly gloves: string;
  readonly stairs: boolean | null;
}
const SLOTS: readonly Slot[] = [
  { id: "monday", gloves: "latex", stairs: false },
  { id: "tuesday", gloves: "nitrile", stairs: true },
  { id: "wednesday", gloves: "nitrile", stairs: false },
  { id: "thursday", gloves: "nitrile", stairs: null },
  { id: "friday", gloves: "nitrile", stairs: false },
];
const slotInput = z.strictObject({ slot: z.string(), patients: z.array(z.string()).optional() });

/** A practice: one guest's turns with its tools, as a model could call them. */
class Practice {
  readonly booked: string[] = [];
  price: number | "unknown" = 80;
  rooms: number | "unknown" = 4;
  needs: readonly Memory[] = [];
  storeDown = false;
  broken = false;
  /** A call that was begun waits until it is let go. */
  hangs = false;
  begun = 0;
  letGo = () => {};
  readonly logged: object[] = [];
  turn = 0;
  pressed: string | undefined;
  sessionId = "session";
  readonly #box: ToolBox;
  readonly #said: string[] = [];
  #calls = 0;

  constructor(engine = new MemoryEngine()) {
    const domain = this.#domain();
    const needs = domain.needs ?? [];
    const logger = { warn: (fields: object) => void this.logged.push(fields) };
    const stated = { needs, needMeant: (said: string | null) => knownNeed(said, needs), logger };
    const gate = new ConstraintGate({
      needs: {
        needs: async (_, { soft = () => false }) => {
          if (this.storeDown) throw new AppError("LONG_TERM_MEMORY_UNAVAILABLE");
          return this.needs.filter((memory) => memory.strength === "hard" || soft(memory));
        },
      },
      writtenBack: async () => true,
      isSoftLimit: softLimits(domain.limits ?? [], stated),
      logger: silentLogger,
    });
    const parts = { gate, shown: new ShownCalls(engine), ...stated };
    this.#box = new ToolBox({ tools: gatedTools(domain.tools, parts), maxOutputChars: 16_000, logger: silentLogger });
  }

  #domain(): Domain {
    return defineDomain({
      name: "dentist",
      prompt: "You look after appointments.",
      needs: [
        { name: "no_latex", description: "no latex", words: { en: ["latex"] }, states: (slot: Slot) => slot.gloves !== "latex" },
        {
          name: "step_free",
          description: "no stairs",
          words: { en: ["stairs"] },
          states: ({ stairs }: Slot) => (stairs === null ? "unknown" : !stairs),
        },
        {
          name: "budget",
          description: "what it may cost",
          words: { en: ["budget"] },
          kind: "at_most",
          category: "budget",
          states: () => this.price,
        },
        { name: "rooms_left", description: "rooms", words: { en: ["rooms"] }, kind: "at_least", states: () => this.rooms },
        {
          name: "max_distance",
          description: "how far it may be, in km",
          words: { en: ["km"] },
          kind: "at_most",
          category: "location",
          states: ({ id }: Slot) => {
            if (id === "friday") throw new TypeError("of another tool");
            return 5;
          },
        },
      ],
      tools: [
        defineTool({
          name: "find_slots",
          description: "Lists slots.",
          parameters: z.object({ patients: z.array(z.string()).default([]) }),
          looksUp: { items: ({ slots }: { slots: readonly Slot[] }) => slots, for: ({ patients }) => patients },
          run: () => ({ slots: SLOTS }),
        }),
        defineTool({
          name: "book_slot",
          description: "Books a slot.",
          parameters: slotInput,
          binds: {
            what: "appointment",
            items: ({ slot }) => SLOTS.filter(({ id }) => id.includes(slot)),
            show: ({ id }) => `Cleaning on ${id}`,
            for: ({ patients }) => patients ?? [],
          },
          run: async ({ slot }, { passedOver = [] }) => {
            this.begun += 1;
            if (this.hangs)
              await new Promise<void>((resolve) => {
                this.letGo = resolve;
              });
            if (this.broken) throw new Error("the calendar is away");
            this.booked.push(slot);
            return { booked: slot, passed_over: [...passedOver] };
          },
        }),
        defineTool({
          name: "cancel_slot",
          description: "Cancels an appointment.",
          parameters: z.object({ words: z.string() }),
          ends: {
            what: "appointment",
            items: ({ words }) => this.booked.filter((id) => words.includes(id)),
            show: (id) => `Cleaning on ${id}`,
          },
          run: ({ words }) => {
            this.booked.splice(0);
            return { cancelled: words };
          },
        }),
      ],
    });
  }

  /** The guest says something, and the model calls a tool. */
  async says(words: string, name: string, input: JsonObject) {
    this.turn += 1;
    const outcome = await this.again(words, name, input);
    this.#said.push(words);
    return outcome;
  }

  /** In the same turn. */
  async again(words: string, name: string, input: JsonObject) {
    this.#calls += 1;
    const context: ToolContext = {
      owner: ownerOf("default", "ada"),
      sessionId: this.sessionId,
      turn: this.turn,
      callId: `call_${this.#calls}`,
      userMessage: { id: `m${this.turn}`, content: words },
      earlierMessages: this.#said,
      ...(this.pressed !== undefined && { consent: this.pressed }),
      now: new Date("2026-03-11T10:00:00Z"),
      timeZone: "UTC",
      signal: new AbortController().signal,
    };
    const { output, error, result } = await this.#box.run({ id: context.callId, name, arguments: JSON.stringify(input) }, 0, context);
    const shown = result?.elements?.[0];
    const token = shown === undefined ? undefined : (JSON.parse(shown.content ?? "{}") as { token: string }).token;
    return { ...((output ?? {}) as JsonObject), error, token };
  }
}

const latex = constraint("Is allergic to latex", "needs", "self", { need: "no_latex" });
const limit = (text: string) => constraint(text, "needs", "self", { need: "budget" });
const stairs = constraint("Can't climb stairs", "needs", "self", { need: "step_free" });

describe("[gate-of-every-domain] a binding tool of any domain", () => {
  test("shows first, and does it in a later turn when the guest's own words agree to just that", async () => {
    const practice = new Practice();
    expect(await practice.says("Wednesday please", "book_slot", { slot: "wednesday" })).toMatchObject({
      status: "shown",
      shown: "Cleaning on wednesday",
    });
    expect(practice.booked).toEqual([]);
    expect(await practice.again("Wednesday please", "book_slot", { slot: "wednesday", agreed: "Wednesday please" })).toMatchObject({
      status: "shown",
    });
    expect(practice.booked).toEqual([]);
    expect(await practice.says("yes, do", "book_slot", { slot: "wednesday", agreed: "of course" })).toMatchObject({ status: "shown" });
    expect(practice.booked).toEqual([]);
    expect(await practice.says("yes, do", "book_slot", { slot: "wednesday", agreed: "yes, do" })).toMatchObject({ booked: "wednesday" });
    expect(practice.booked).toEqual(["wednesday"]);
  });

  test("does nothing that was never shown: other arguments, another conversation, too long ago", async () => {
    const practice = new Practice();
    await practice.says("Wednesday please", "book_slot", { slot: "wednesday" });
    expect(await practice.says("yes", "book_slot", { slot: "tuesday", agreed: "yes" })).toMatchObject({ status: "shown" });
    expect(await practice.says("yes", "book_slot", { slot: "wednesday", patients: ["Tom"], agreed: "yes" })).toMatchObject({
      status: "shown",
    });
    practice.sessionId = "another";
    expect(await practice.says("yes", "book_slot", { slot: "wednesday", agreed: "yes" })).toMatchObject({ status: "shown" });
    practice.turn += 5;
    expect(await practice.says("yes", "book_slot", { slot: "wednesday", agreed: "yes" })).toMatchObject({ status: "shown" });
    expect(practice.booked).toEqual([]);
  });

  test("a need stops it: what and why is told, a mere yes passes over nothing, and the guest's word to do it all the same does", async () => {
    const practice = new Practice();
    practice.needs = [latex];
    const stopped = await practice.says("Monday please", "book_slot", { slot: "monday" });
    expect(stopped).toMatchObject({ status: "stopped", conflicts: [expect.stringMatching(/^Is allergic to latex\. .*no latex/i)] });
    expect(await practice.says("yes", "book_slot", { slot: "monday", agreed: "yes" })).toMatchObject({ status: "stopped" });
    expect(practice.booked).toEqual([]);
    expect(await practice.says("book it anyway", "book_slot", { slot: "monday", anyway: "book it anyway" })).toMatchObject({
      booked: "monday",
      passed_over: [latex.id],
    });
  });

  test("the button agrees to what it was under, and to nothing that came to stand against it since", async () => {
    const practice = new Practice();
    const shown = await practice.says("Monday please", "book_slot", { slot: "monday" });
    practice.needs = [latex];
    practice.pressed = shown.token;
    const stopped = await practice.says("Confirm", "book_slot", { slot: "monday" });
    expect(stopped).toMatchObject({ status: "stopped" });
    expect(practice.booked).toEqual([]);
    practice.pressed = stopped.token;
    expect(await practice.says("Confirm", "book_slot", { slot: "monday" })).toMatchObject({ booked: "monday" });
  });

  test("what the catalogue doesn't state is said once, and a yes after that does it", async () => {
    const practice = new Practice();
    practice.needs = [stairs];
    expect(await practice.says("Thursday please", "book_slot", { slot: "thursday" })).toMatchObject({
      status: "shown",
      reminders: [expect.stringContaining("Can't climb stairs")],
    });
    expect(await practice.says("yes", "book_slot", { slot: "thursday", agreed: "yes" })).toMatchObject({ booked: "thursday" });
  });

  test("a companion's need stops it where they come, and is mentioned where nobody says so", async () => {
    const practice = new Practice();
    practice.needs = [constraint("Is allergic to latex", "needs", "companion:Tom", { need: "no_latex" })];
    expect(await practice.says("Monday for me and Tom", "book_slot", { slot: "monday", patients: ["Tom"] })).toMatchObject({
      status: "stopped",
      conflicts: [expect.stringContaining("Tom")],
    });
    expect(await practice.says("Monday just for me", "book_slot", { slot: "monday" })).toMatchObject({ status: "shown" });
  });

  test("where what must hold can't be read, the guest is asked, and only their word does it", async () => {
    const practice = new Practice();
    practice.storeDown = true;
    expect(await practice.says("Wednesday", "book_slot", { slot: "wednesday" })).toMatchObject({
      status: "stopped",
      unchecked: expect.any(String),
    });
    expect(await practice.says("yes", "book_slot", { slot: "wednesday", agreed: "yes" })).toMatchObject({ status: "stopped" });
    expect(await practice.says("nothing, do it", "book_slot", { slot: "wednesday", anyway: "nothing, do it" })).toMatchObject({
      booked: "wednesday",
    });
  });

  test.each([
    ["Pays at most 60 euros", "stopped"],
    ["Zahlt höchstens 80,50 Euro", "shown"],
    ["Never more than 1,200 kroner", "shown"],
    ["Pays 60 to 80 euros", "reminded"],
    ["Is on a budget", "reminded"],
  ])("a limit is a need like any other, by the number in it: %s", async (text, expected) => {
    const practice = new Practice();
    practice.needs = [limit(text)];
    const { status, reminders } = (await practice.says("Wednesday", "book_slot", { slot: "wednesday" })) as JsonObject;
    expect(reminders === undefined ? status : "reminded").toBe(expected);
  });

  test("a soft limit that it is over is asked about once, and a yes to that does it; of one that it keeps nothing is said", async () => {
    for (const need of ["budget", null]) {
      const practice = new Practice();
      const soft = (text: string, id: string) => constraint(text, "budget", "self", { need, strength: "soft", id });
      practice.needs = [soft("Would like to pay 60 euros", "over"), soft("Pays up to 90 euros", "within"), soft("Likes it cheap", "none")];
      const shown = await practice.says("Wednesday", "book_slot", { slot: "wednesday" });
      expect(shown).toMatchObject({ status: "shown", reminders: [expect.stringMatching(/^You told me: “Would like to pay 60 euros”\. /)] });
      expect(shown).not.toHaveProperty("needs_met");
      expect(await practice.says("yes", "book_slot", { slot: "wednesday", agreed: "yes" })).toMatchObject({ booked: "wednesday" });
    }
  });

  test("a soft limit that comes up with the yes is asked about first; a taste, or a companion's, is none", async () => {
    const practice = new Practice();
    const soft = (category: string, subject: string) => constraint("Pays 60 euros", category, subject, { strength: "soft" });
    practice.needs = [soft("preference", "self"), soft("budget", "companion:Tom")];
    expect(await practice.says("Wednesday", "book_slot", { slot: "wednesday" })).not.toHaveProperty("reminders");
    practice.needs = [soft("budget", "self")];
    const asked = await practice.says("yes", "book_slot", { slot: "wednesday", agreed: "yes" });
    expect(asked).toMatchObject({ status: "shown", reminders: [expect.stringContaining("60 euros")] });
    expect(await practice.says("yes", "book_slot", { slot: "wednesday", agreed: "yes" })).toMatchObject({ booked: "wednesday" });
  });

  test("a yes is to the price that was shown: at another one it is shown once more, with both, and a yes to that does it", async () => {
    const practice = new Practice();
    await practice.says("Wednesday", "book_slot", { slot: "wednesday" });
    practice.price = 95;
    const shown = await practice.says("yes", "book_slot", { slot: "wednesday", agreed: "yes" });
    expect(shown).toMatchObject({ status: "shown", shown: "Cleaning on wednesday (Budget: 80 before, 95 now)" });
    expect(practice.booked).toEqual([]);
    expect(await practice.says("yes", "book_slot", { slot: "wednesday", agreed: "yes" })).toMatchObject({ booked: "wednesday" });
    expect(await practice.says("once more", "book_slot", { slot: "wednesday" })).toMatchObject({ shown: "Cleaning on wednesday" });
  });

  test.each([
    ["a price that is lower, if only by a little", { price: 79.98 }, "booked"],
    ["more rooms", { rooms: 5 }, "booked"],
    ["fewer rooms", { rooms: 3 }, "Cleaning on wednesday (Rooms left: 4 before, 3 now)"],
    ["a price that is not stated any more", { price: "unknown" as const }, "Cleaning on wednesday (Budget: 80 before, not stated now)"],
  ])("a yes holds unless a number is worse: %s", async (_, changed, expected) => {
    const practice = new Practice();
    await practice.says("Wednesday", "book_slot", { slot: "wednesday" });
    Object.assign(practice, changed);
    const { shown = "booked" } = (await practice.says("yes", "book_slot", { slot: "wednesday", agreed: "yes" })) as JsonObject;
    expect(shown).toBe(expected);
    expect(practice.booked).toEqual(expected === "booked" ? ["wednesday"] : []);
  });

  test("a number that is stated only by then takes no yes back, but what it breaks stops it", async () => {
    for (const needs of [[], [limit("Pays at most 60 euros")]]) {
      const practice = new Practice();
      practice.price = "unknown";
      await practice.says("Wednesday", "book_slot", { slot: "wednesday" });
      practice.price = 80;
      practice.needs = needs;
      await practice.says("yes", "book_slot", { slot: "wednesday", agreed: "yes" });
      expect(practice.booked).toEqual(needs.length === 0 ? ["wednesday"] : []);
    }
  });

  test("a number in a limit's category is the limit's only where the memory speaks of it", async () => {
    const practice = new Practice();
    const inCategory = (text: string, aspect = "") => constraint(text, "location", "self", { strength: "soft", aspect, source: null });
    practice.needs = [inCategory("Lives at 2 Baker Street"), inCategory("Has 3 children at school there", "home")];
    expect(await practice.says("Wednesday", "book_slot", { slot: "wednesday" })).not.toHaveProperty("reminders");
    for (const memory of [inCategory("Goes 3 km at most"), inCategory("Not more than 3", "max_distance")]) {
      practice.needs = [memory];
      const { reminders } = (await practice.says("Wednesday", "book_slot", { slot: "wednesday" })) as JsonObject;
      expect(reminders).toEqual([expect.stringContaining(memory.text)]);
    }
  });

  test("what is no number is not stated, and a row of it that can't be read locks nobody out", async () => {
    const engine = new MemoryEngine();
    const practice = new Practice(engine);
    practice.price = Number.NaN;
    await practice.says("Wednesday", "book_slot", { slot: "wednesday" });
    expect(await practice.says("yes", "book_slot", { slot: "wednesday", agreed: "yes" })).toMatchObject({ booked: "wednesday" });
    const partition = ownerPartition(ownerOf("default", "ada"));
    const key = "record/shown";
    const { entries } = await engine.read(partition, { keys: [key] });
    const { v, shown } = JSON.parse(entries.get(key)?.value ?? "") as { v: 1; shown: JsonObject[] };
    const value = JSON.stringify({ v, shown: shown.map((each) => ({ ...each, stated: { budget: null } })) });
    await committed(engine, partition, { puts: [{ key, value }] });
    expect(await practice.says("Wednesday", "book_slot", { slot: "wednesday" })).toMatchObject({ status: "shown" });
    expect(await practice.says("yes", "book_slot", { slot: "wednesday", agreed: "yes" })).toMatchObject({ booked: "wednesday" });
  });

  test("what a need's `states` throws of a thing is not stated of it, told in the log without its words", async () => {
    const practice = new Practice();
    practice.needs = [constraint("Goes 3 km at most", "needs", "self", { need: "max_distance" })];
    expect(await practice.says("Friday", "book_slot", { slot: "friday" })).toMatchObject({
      status: "shown",
      reminders: [expect.stringContaining("Goes 3 km at most")],
    });
    expect(await practice.says("yes", "book_slot", { slot: "friday", agreed: "yes" })).toMatchObject({ booked: "friday" });
    expect(practice.logged[0]).toEqual({ need: "max_distance", code: "UNKNOWN" });
  });

  test("nor does the button of what was shown at a higher price do it", async () => {
    const practice = new Practice();
    const { token } = await practice.says("Wednesday", "book_slot", { slot: "wednesday" });
    practice.price = 95;
    practice.pressed = token;
    const { token: anew } = await practice.says("", "book_slot", { slot: "wednesday" });
    expect(practice.booked).toEqual([]);
    practice.pressed = token;
    await practice.says("", "book_slot", { slot: "wednesday" });
    expect(practice.booked).toEqual([]);
    expect(anew).not.toBe(token);
  });

  test("one yes does it once", async () => {
    const practice = new Practice();
    await practice.says("Wednesday", "book_slot", { slot: "wednesday" });
    await practice.says("yes", "book_slot", { slot: "wednesday", agreed: "yes" });
    await practice.again("yes", "book_slot", { slot: "wednesday", agreed: "yes" });
    await practice.says("yes", "book_slot", { slot: "wednesday", agreed: "yes" });
    expect(practice.booked).toEqual(["wednesday"]);
  });

  test("what a killed process had begun is not done twice by the turn's next attempt, nor told as done", async () => {
    const practice = new Practice();
    await practice.says("Wednesday", "book_slot", { slot: "wednesday" });
    practice.hangs = true;
    const killed = practice.says("yes", "book_slot", { slot: "wednesday", agreed: "yes" });
    await expect.poll(() => practice.begun).toBe(1);
    practice.hangs = false;
    expect(await practice.again("yes", "book_slot", { slot: "wednesday", agreed: "yes" })).toMatchObject({ status: "not_known" });
    expect(practice.booked).toEqual([]);
    practice.letGo();
    await killed;
  });

  test("what fails is not done, and the same yes does it when it is tried again", async () => {
    const practice = new Practice();
    await practice.says("Wednesday", "book_slot", { slot: "wednesday" });
    practice.broken = true;
    expect(await practice.says("yes", "book_slot", { slot: "wednesday", agreed: "yes" })).toMatchObject({ error: expect.any(String) });
    practice.broken = false;
    expect(await practice.again("yes", "book_slot", { slot: "wednesday", agreed: "yes" })).toMatchObject({ booked: "wednesday" });
  });

  test("a name that matches nothing, or several, does nothing and is asked about", async () => {
    const practice = new Practice();
    expect(await practice.says("Sunday", "book_slot", { slot: "sunday" })).toMatchObject({ status: "not_found" });
    expect(await practice.says("a day", "book_slot", { slot: "day" })).toMatchObject({
      status: "which_one",
      candidates: SLOTS.map(({ id }) => `Cleaning on ${id}`),
    });
  });

  test("what ends one shows it first too, and no need stands against that", async () => {
    const practice = new Practice();
    practice.needs = [latex];
    practice.booked.push("monday");
    expect(await practice.says("cancel the brunch", "cancel_slot", { words: "the brunch" })).toMatchObject({ status: "not_found" });
    expect(await practice.says("cancel monday", "cancel_slot", { words: "monday" })).toMatchObject({ status: "shown" });
    expect(practice.booked).toEqual(["monday"]);
    expect(await practice.says("yes", "cancel_slot", { words: "monday", agreed: "yes" })).toMatchObject({ cancelled: "monday" });
    expect(practice.booked).toEqual([]);
  });

  test("what is looked up tells of each what it breaks and what isn't stated, companions' needs by their names", async () => {
    const practice = new Practice();
    practice.needs = [latex, constraint("Can't climb stairs", "needs", "companion:Tom", { need: "step_free" })];
    expect(await practice.says("What is free for Tom and me?", "find_slots", { patients: ["Tom"] })).toMatchObject({
      slots: [
        { id: "monday", breaks: ["Is allergic to latex"] },
        { id: "tuesday", breaks: ["Tom: Can't climb stairs"] },
        { id: "wednesday" },
        { id: "thursday", not_stated: ["Tom: Can't climb stairs"] },
        { id: "friday" },
      ],
    });
  });

  test("a model that sends null for what it leaves out is understood", async () => {
    const practice = new Practice();
    expect(await practice.says("Wednesday", "book_slot", { slot: "wednesday", agreed: null, anyway: null })).toMatchObject({
      status: "shown",
    });
    expect(await practice.says("yes", "book_slot", { slot: "wednesday", agreed: "yes", anyway: null })).toMatchObject({
      booked: "wednesday",
    });
  });

  test("wrong arguments are told to the model as any tool's", async () => {
    const practice = new Practice();
    expect((await practice.says("Wednesday", "book_slot", { slott: "wednesday" })).error).toMatch(/slot/);
    expect((await practice.says("Wednesday", "book_slot", { slot: "wednesday", agreed: 7 })).error).toMatch(/agreed/);
  });
});
