import { describe, expect, test, vi } from "vitest";
import type { Session } from "../../src/domain/session.js";
import { AppError } from "../../src/platform/errors.js";
import { isSummary } from "../../src/ports/context-headings.js";
import type { HistoryHit } from "../../src/ports/resources.js";
import { type Client, startWorld, tempDir } from "../e2e/world.js";
import { eventually, listeningConcierge, listeningLogger, summaryText, talkingModel } from "./models.js";

// Whole conversations, each turn on the disk: a busy machine takes its time.
vi.setConfig({ testTimeout: 120_000 });

const SMALL_TALK = [
  "Good morning to you.",
  "Any concerts next week?",
  "Thank you, that is kind.",
  "What is on in Vienna?",
  "Hmm, let me think about it.",
  "Which plays are there this weekend?",
];

/** Sixty rounds, the third of which tells the fact. */
async function talk(guest: Client, rounds: number, fact: string, more: Record<string, unknown> = {}): Promise<string> {
  let session = "";
  for (let round = 1; round <= rounds; round += 1) {
    const message = round === 3 ? fact : (SMALL_TALK[round % SMALL_TALK.length] ?? "");
    session = (await guest.say(message, session === "" ? more : { session_id: session })).session_id;
  }
  return session;
}

describe("a conversation of sixty rounds, with Mem0 off", () => {
  test("still answers from what was said in round 3, out of the summary, by the product's own stand-in on files", async () => {
    const model = listeningConcierge();
    const world = await startWorld(await tempDir(), { MEM0_ENABLED: "false", SUMMARY_MAX_TOKENS: "300" }, { model });
    const guest = world.as("ines");
    const session = await talk(guest, 59, "My mother Amara is allergic to walnuts, and she arrives on 14 June.");
    const answer = await guest.say("What is my mother allergic to?", { session_id: session });
    expect(answer.turn).toBe(60);
    expect(answer.message.content).toMatch(/walnuts/);
    expect(answer.memory).toMatchObject({ status: "disabled", recalled: [] });
    const last = model.heard.at(-1);
    expect(JSON.stringify(last?.messages.filter((message) => !isSummary(message)))).not.toContain("Amara");
    expect(summaryText(last)).toContain("Amara is allergic to walnuts");
  });
});

describe("a model that answers turns but writes no summary", () => {
  test("costs no turn: an extract takes the summary's place, and the log says so", async () => {
    const logger = listeningLogger();
    const model = talkingModel({
      other: () => {
        throw new AppError("MODEL_UNAVAILABLE");
      },
    });
    const world = await startWorld(await tempDir(), { MEM0_ENABLED: "false", SHORT_TERM_ROUNDS: "2" }, { model, logger });
    const guest = world.as("ines");
    const session = await talk(guest, 8, "My mother Amara is allergic to walnuts.");
    expect(model.turns).toHaveLength(8);
    expect(model.others.length).toBeGreaterThan(0);
    expect(summaryText(model.turns.at(-1))).toContain("Amara is allergic to walnuts");
    expect(logger.told.some(({ message }) => message.includes("wrote no summary"))).toBe(true);
    const { body } = await guest.get<Session>(`/v1/sessions/${session}`);
    expect(body.summary).toContain("Amara");
    expect(body.title).toBe(SMALL_TALK[1]);
  });
});

describe("an incognito session", () => {
  test("has its rolling summary too, and leaves nothing in memory or history", async () => {
    const model = listeningConcierge();
    const world = await startWorld(await tempDir(), { SHORT_TERM_ROUNDS: "2" }, { model });
    const guest = world.as("ines");
    const session = await talk(guest, 8, "My mother Amara is allergic to walnuts, and I prefer jazz.", { metadata: { incognito: true } });
    const summary = async () => (await guest.get<Session>(`/v1/sessions/${session}`)).body.summary;
    await eventually(summary).toContain("Amara");
    await guest.say("Any concerts next week?", { session_id: session });
    expect(summaryText(model.heard.at(-1))).toContain("Amara is allergic to walnuts");
    expect((await guest.get<{ data: unknown[] }>("/v1/memories")).body.data).toEqual([]);
    for (const q of ["Amara", "walnuts", "Vienna"])
      expect((await guest.get<{ data: HistoryHit[] }>(`/v1/history/search?q=${q}`)).body.data).toEqual([]);
  });
});
