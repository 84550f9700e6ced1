import { describe, expect, test } from "vitest";
import { SIGNALS, without } from "../../../bench/recall/ablation.js";
import { documentVector, queryVector } from "../../../src/embedding/sparse-vectors.js";
import { type Candidate, encodeTerms, forEachTerm, sessionNumbers } from "../../../src/vectors/history/candidate.js";
import { rank } from "../../../src/vectors/history/ranking.js";
import { askedOrder, fits, namedTimes } from "../../../src/vectors/history/signals/dates.js";
import { sessionScores } from "../../../src/vectors/history/signals/lexical.js";
import { newWords, recency } from "../../../src/vectors/history/signals/novelty.js";
import {
  askedSpeaker,
  asks,
  expectedAnswer,
  holdsAnswer,
  saidByAsked,
  withoutNames,
} from "../../../src/vectors/history/signals/question.js";
import { RANKING_WEIGHTS, type RankingWeights } from "../../../src/vectors/history/weights.js";
import { conversation } from "../../contract/history.contract.js";

const NOW = new Date("2026-05-20T12:00:00Z");

function candidates(lines: readonly string[], at = "2026-03-12T18:00:00.000Z", sessionId?: string): Candidate[] {
  return conversation(lines, { at, ...(sessionId === undefined ? {} : { sessionId }) }).map((message) => ({
    message,
    atMs: Date.parse(message.created_at),
    terms: encodeTerms(documentVector(message.content)),
    likeness: 0,
  }));
}

/** With cosines to the question, in order. */
function withLikeness(found: readonly Candidate[], likeness: readonly number[]): Candidate[] {
  return found.map((candidate, i) => ({ ...candidate, likeness: likeness[i] ?? 0 }));
}

function ranked(question: string, found: readonly Candidate[], weights: RankingWeights = RANKING_WEIGHTS): string[] {
  const { indices, values } = queryVector(question);
  const terms = indices.map((index, i) => ({ index, weight: values[i] ?? 1 }));
  return rank({ text: question, terms, now: NOW, termsOf: (name) => queryVector(name).indices }, found, weights).map(
    ({ candidate }) => candidate.message.content,
  );
}

describe("ranking", () => {
  test("a question lends its words to the answer after it, more than to what stands before it", () => {
    const found = candidates(["user: Good evening.", "assistant: Which hotel shall I book?", "user: The old one, as always."]);
    expect(ranked("hotel booked", found).indexOf("The old one, as always.")).toBeLessThan(
      ranked("hotel booked", found).indexOf("Good evening."),
    );
    expect(ranked("hotel booked", candidates(["user: Unrelated words", "user: The hotel"]), without(["neighbours"]))[0]).toBe("The hotel");
  });

  test("neighbours lend nothing across sessions", () => {
    const found = [
      ...candidates(["user: Which hotel?"]),
      ...candidates(["user: Tuesday"]),
      ...candidates(["user: Which hotel?", "user: Monday"]),
    ];
    expect(ranked("hotel", found).indexOf("Monday")).toBeLessThan(ranked("hotel", found).indexOf("Tuesday"));
  });

  test("who is asked about comes before who was spoken to", () => {
    const found = candidates(["Anna: Ben, I love the opera", "Ben: Anna, I love the opera too"]);
    expect(ranked("What does Ben love?", found)[0]).toContain("too");
    expect(ranked("What does Anna love?", found)[0]).not.toContain("too");
  });

  test("a named month, and the last time", () => {
    const found = [
      ...candidates(["user: Dinner was lovely"], "2026-01-10T20:00:00Z"),
      ...candidates(["user: Dinner was lovely indeed"], "2026-03-10T20:00:00Z"),
    ];
    expect(ranked("dinner in January", found)[0]).toBe("Dinner was lovely");
    expect(ranked("dinner in March", found)[0]).toBe("Dinner was lovely indeed");
    expect(ranked("the first time we had dinner", found)[0]).toBe("Dinner was lovely");
    expect(ranked("the last time we had dinner", found)[0]).toBe("Dinner was lovely indeed");
  });

  test("of equals the newest comes first", () => {
    const found = [...candidates(["user: Jazz"], "2026-01-10T20:00:00Z", "a"), ...candidates(["user: Jazz"], "2026-03-10T20:00:00Z", "b")];
    const { indices } = queryVector("jazz");
    const question = { text: "jazz", terms: indices.map((index) => ({ index, weight: 1 })), now: NOW, termsOf: () => [] };
    for (const order of [found, [...found].reverse()])
      expect(rank(question, order, RANKING_WEIGHTS).map(({ candidate }) => candidate.message.session_id)).toEqual(["b", "a"]);
  });

  test("how near a message is in meaning counts beside its words, and not its place alone", () => {
    const lines = ["user: Table by the window", "user: Table in a corner", "user: Quiet, away from the door", "user: Rain all day"];
    const found = lines.flatMap((line) => candidates([line]));
    const first = (likeness: readonly number[]) => ranked("Which table for supper?", withLikeness(found, likeness))[0];
    expect(first([0.1, 0.3, 0.32, 0.05])).toBe("Table in a corner");
    expect(first([0.1, 0.3, 0.95, 0.05])).toBe("Quiet, away from the door");
  });

  test("a model whose cosines are all high orders as one whose cosines are low", () => {
    const lines = ["user: Table by the window", "user: A corner then", "user: Quiet, away from the door", "user: Rain all day"];
    const found = lines.flatMap((line) => candidates([line]));
    const low = [0.1, 0.5, 0.3, 0.05];
    const high = low.map((cosine) => 0.7 + 0.3 * cosine);
    const order = ranked("Which table?", withLikeness(found, low));
    expect(order).not.toEqual(ranked("Which table?", found));
    expect(ranked("Which table?", withLikeness(found, high))).toEqual(order);
  });

  test("what is near in meaning lends to its neighbours: they come before a stranger that is as near as they", () => {
    const found = withLikeness(
      [...candidates(["user: Rain all day"]), ...candidates(["user: Sun at noon", "assistant: Clouds in May", "user: Wind on deck"])],
      [0.2, 0.2, 0.9, 0.2],
    );
    const order = ranked("umbrella", found);
    expect(order[0]).toBe("Clouds in May");
    expect(order.at(-1)).toBe("Rain all day");
    const alone = { ...RANKING_WEIGHTS, likenessSession: 0 };
    expect(ranked("umbrella", found, alone).at(-1)).toBe("Rain all day");
    expect(ranked("umbrella", found, without(["neighbours' likeness"])).slice(1)).not.toEqual(order.slice(1));
  });

  test("what says little comes after what says more of the same", () => {
    const lines = ["user: Opera, yes!", "user: Opera on Friday with Anna, two seats in the first row, then supper near the harbour"];
    const found = lines.flatMap((line) => candidates([line]));
    expect(ranked("opera", found)[0]).toContain("supper");
    expect(ranked("opera", found, without(["substance", "new words"]))[0]).toBe("Opera, yes!");
  });

  test("what was told first comes before what says it again with hardly a new word", () => {
    const [first, again] = ["anniversary supper lobster harbour candle", "anniversary supper lobster harbour tonight"];
    const found = [
      ...candidates([`user: Hello`, "assistant: Good day", `user: ${again}`], "2026-03-10T20:00:00Z", "b"),
      ...candidates([`user: Hello`, "assistant: Good day", `user: ${first}`], "2026-01-10T20:00:00Z", "a"),
    ];
    expect(ranked("anniversary supper", found)[0]).toBe(first);
    expect(ranked("anniversary supper", found, without(["new words"]))[0]).toBe(again);
  });

  test("what opens a session comes before what is said as well in its middle", () => {
    const found = [
      ...candidates(["user: Jazz downtown", "assistant: Noted", "user: Folk uptown"], "2026-03-10T20:00:00Z", "a"),
      ...candidates(["user: Rain again", "assistant: Indeed", "user: Jazz uptown"], "2026-04-10T20:00:00Z", "b"),
    ];
    const signals = ["neighbours", "session", "new words"] as const;
    expect(ranked("jazz", found, without(signals))[0]).toBe("Jazz downtown");
    expect(ranked("jazz", found, without([...signals, "opening"]))[0]).toBe("Jazz uptown");
  });

  test("every signal can be switched off, each on its own", () => {
    for (const signal of Object.keys(SIGNALS) as (keyof typeof SIGNALS)[]) expect(without([signal])).toMatchObject(SIGNALS[signal]);
    expect(without([])).toEqual(RANKING_WEIGHTS);
  });
});

describe("signals", () => {
  test("times that a question names, against the present", () => {
    const day = (iso: string) => Date.parse(iso);
    const cases: readonly [string, string, "day" | "span" | null][] = [
      ["What did I say on 7 July 2025?", "2025-07-08T10:00:00Z", "day"],
      ["What did I say on July 7, 2025?", "2025-07-12T10:00:00Z", null],
      ["What happened in August 2025?", "2025-08-31T23:00:00Z", "span"],
      ["What happened in August 2025?", "2025-09-01T00:00:00Z", null],
      ["What happened in August?", "2019-08-05T00:00:00Z", "span"],
      ["Where did we go in 2024?", "2024-12-31T00:00:00Z", "span"],
      ["Where did we go in 2024?", "2025-01-01T00:00:00Z", null],
      ["The place we booked last spring", "2026-04-01T00:00:00Z", null],
      ["The place we booked last spring", "2025-04-01T00:00:00Z", "span"],
      ["The place we booked last winter", "2026-01-15T00:00:00Z", "span"],
      ["What did I tell you yesterday?", "2026-05-19T08:00:00Z", "day"],
      ["May I bring my dog?", "2026-05-19T08:00:00Z", null],
      ["Any jazz tonight for two?", "2025-01-01T00:00:00Z", null],
    ];
    for (const [question, at, expected] of cases) expect(fits(day(at), namedTimes(question, NOW)), question).toBe(expected);
  });

  test("the kind of answer that a question wants, in several languages", () => {
    expect([expectedAnswer("When was it?"), expectedAnswer("Wann war das?"), expectedAnswer("什么时候")]).toEqual(["time", "time", "time"]);
    expect([expectedAnswer("How many of us?"), expectedAnswer("Combien de places ?")]).toEqual(["number", "number"]);
    expect(expectedAnswer("Who sings?")).toBeNull();
    expect([
      holdsAnswer("It was last Tuesday", "time"),
      holdsAnswer("am Dienstag", "time"),
      holdsAnswer("a lovely evening out", "number"),
    ]).toEqual([true, true, false]);
    expect(holdsAnswer("a table for four", "number")).toBe(true);
  });

  test("what asks is told from what states", () => {
    expect(["Shall we?", "要吗？", "Really?!", 'Did he say "no?"', "Nice? [shares a photo]"].map(asks)).toEqual([
      true,
      true,
      false,
      true,
      true,
    ]);
    expect(asks("Yes? I think so.")).toBe(false);
  });

  test("who is asked about: a name, else what the pronouns point to", () => {
    const said = (line: string) => candidates([line])[0]?.message ?? expect.unreachable("no message");
    const names = new Set(["Anna Lee", "Ben"]);
    expect(saidByAsked(said("Ben: hi"), askedSpeaker("What did Ben say?", names))).toBe(true);
    expect(askedSpeaker("What did Anna say?", names).names).toEqual(["anna lee"]);
    expect(saidByAsked(said("Ben: hi"), askedSpeaker("What do Ben and Anna share?", names))).toBe(false);
    expect(askedSpeaker("What did you recommend?", new Set()).role).toBe("assistant");
    expect(askedSpeaker("What did I tell about my knee?", new Set()).role).toBe("user");
    expect(askedSpeaker("What did I tell you? What did you say?", new Set()).role).toBeNull();
  });

  test("a question without the names of those who speak", () => {
    const names = new Set(["Anna Lee", "Ben", "Jürgen"]);
    expect(withoutNames("What does Anna's sister like about BEN?", names)).toBe("What does sister like about ?");
    expect(withoutNames("Was mag Jürgen?", names)).toBe("Was mag ?");
    expect(withoutNames("Do we have a bench for leeks?", names)).toBe("Do we have a bench for leeks?");
    expect(withoutNames("Anna Lee?", names)).toBe("Anna Lee?");
    expect(withoutNames("What does  Anna like?", new Set())).toBe("What does  Anna like?");
  });

  test("new words are those that nothing before has, whatever the order of the candidates", () => {
    const found = candidates(["user: lobster harbour", "user: lobster harbour candle", "user: harbour"]);
    const [one = 0, two = 0, three = 0] = newWords(found, [0, 1, 2]);
    expect(one).toBeGreaterThan(two);
    expect(two).toBeGreaterThan(0);
    expect(three).toBe(0);
    expect(newWords(found, [2, 1, 0])[0]).toBe(0);
    const equals = candidates(["user: lobster harbour", "user: lobster harbour"]);
    expect([...newWords(equals, [0, 1])]).toEqual([one, one]);
    const many = candidates(["user: apricot basil cherry dill elder fennel ginger hazel iris juniper kale leek"]);
    expect([...newWords(many, [0])]).toEqual([1]);
  });

  test("the order in time that a question asks for", () => {
    expect([
      askedOrder("the last time"),
      askedOrder("the first time"),
      askedOrder("the first and the last"),
      askedOrder("a table"),
    ]).toEqual(["last", "first", null, null]);
    expect([...recency([2, 0, 1])]).toEqual([0.5, 1, 0]);
    expect([...recency([0])]).toEqual([1]);
  });

  test("a session's score is the mean of its three best", () => {
    const sessions = sessionNumbers([...candidates(["user: a", "user: b", "user: c", "user: d"]), ...candidates(["user: e"])]);
    expect([...sessionScores(sessions, Float64Array.of(3, 1, 2, 6, 9))]).toEqual([11 / 3, 11 / 3, 11 / 3, 11 / 3, 3]);
  });

  test("terms survive their code", () => {
    const seen: [number, number][] = [];
    forEachTerm(encodeTerms({ indices: [0, 7, 4_294_967_295], values: [0.004, 1.239, 2.2] }), (index, weight) =>
      seen.push([index, weight]),
    );
    expect(seen).toEqual([
      [0, 0.01],
      [7, 1.24],
      [4_294_967_295, 2.2],
    ]);
    forEachTerm("", () => expect.unreachable("no terms"));
  });
});
