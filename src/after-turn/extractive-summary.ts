import { setImmediate as nextTick } from "node:timers/promises";
import { hasNumber, isQuestion, sentencesOf, wordsAndNamesOf } from "../platform/language/salient-words.js";
import type { TokenCounter } from "../platform/tokens.js";

/** A round as a summary may use it: without what was forgotten. */
export interface SummaryRound {
  readonly turn: number;
  readonly user: string | null;
  readonly assistant: string | null;
  /** True when the agent acted in this round: its answer tells what came of it. */
  readonly acted: boolean;
}

interface Sentence {
  readonly turn: number;
  readonly role: "user" | "assistant";
  readonly text: string;
  readonly order: number;
  readonly words: ReadonlySet<string>;
  readonly names: number;
  readonly number: boolean;
  readonly question: boolean;
  readonly acted: boolean;
}

/** Longer sentences are clipped, so that one can't take all the room. */
const MAX_SENTENCE_CHARS = 400;
/** Two sentences that share this part of their words say the same. */
const SAME = 0.7;
/** Rounds that are taken apart before others get a turn on the event loop. */
const ROUNDS_PER_TICK = 4;
const SENTENCES_PER_TICK = 128;
/** No sentence with its label takes less. */
const SHORTEST_TOKENS = 8;

/**
 * A summary in the speakers' own words, without a model and the same each time: sentences are ranked by what makes them worth
 * keeping (see {@link score}), the best that fit are kept, and stand in the order in which they were said, with their turn.
 * The empty string where nothing fits. Ranking by salience with redundancy removed is extractive summarisation after Luhn (1958)
 * and Carbonell & Goldstein (1998, MMR); what is salient here is what a booking conversation must not lose.
 */
export async function extractiveSummary(
  rounds: readonly SummaryRound[],
  options: { readonly maxTokens: number; readonly counter: TokenCounter; readonly signal?: AbortSignal },
): Promise<string> {
  const sentences = await takeApart(rounds, options.signal);
  const rarity = rarityOf(sentences);
  const lastTurn = rounds.at(-1)?.turn ?? 0;
  const ranked = sentences
    .map((sentence) => ({ sentence, score: score(sentence, rarity, lastTurn) }))
    .sort((a, b) => b.score - a.score || b.sentence.order - a.sentence.order);

  const chosen: Sentence[] = [];
  let left = options.maxTokens;
  for (const [position, { sentence }] of ranked.entries()) {
    if (left < SHORTEST_TOKENS) break;
    if (position % SENTENCES_PER_TICK === SENTENCES_PER_TICK - 1) await nextTick();
    options.signal?.throwIfAborted();
    if (chosen.some((other) => overlap(other.words, sentence.words) >= SAME)) continue;
    const cost = options.counter.count(`${label(sentence)} ${sentence.text}\n`) + 1;
    if (cost > left) continue;
    left -= cost;
    chosen.push(sentence);
  }
  return render(chosen);
}

async function takeApart(rounds: readonly SummaryRound[], signal: AbortSignal | undefined): Promise<Sentence[]> {
  const sentences: Sentence[] = [];
  for (const [position, round] of rounds.entries()) {
    if (position % ROUNDS_PER_TICK === ROUNDS_PER_TICK - 1) await nextTick();
    signal?.throwIfAborted();
    for (const role of ["user", "assistant"] as const) {
      for (const text of sentencesOf(round[role] ?? "")) {
        const clipped = text.length > MAX_SENTENCE_CHARS ? `${text.slice(0, MAX_SENTENCE_CHARS).replace(/\P{L}*\p{L}*$/u, "")}…` : text;
        const { words, names } = wordsAndNamesOf(clipped);
        sentences.push({
          turn: round.turn,
          role,
          text: clipped,
          order: sentences.length,
          words: new Set(words.map((word) => word.toLowerCase())),
          names: names.length,
          number: hasNumber(clipped),
          question: isQuestion(clipped),
          acted: round.acted,
        });
      }
    }
  }
  return sentences;
}

/** How rare a word is among the sentences: 0 for one in all of them, 1 for one in a single one (Spärck Jones, 1972). */
function rarityOf(sentences: readonly Sentence[]): (word: string) => number {
  const seen = new Map<string, number>();
  for (const { words } of sentences) for (const word of words) seen.set(word, (seen.get(word) ?? 0) + 1);
  const most = Math.log(Math.max(2, sentences.length));
  return (word) => 1 - Math.log(seen.get(word) ?? 1) / most;
}

/**
 * What makes a sentence worth keeping. Facts have numbers, dates and names; what the user states counts more than what was said
 * to them; the answer to an action tells a decision; small talk is short and made of common words; a question is worth its answer,
 * which follows, unless it is the last one, which is still open.
 */
function score(sentence: Sentence, rarity: (word: string) => number, lastTurn: number): number {
  const { words, role, names, number, question, acted, turn } = sentence;
  const rare = [...words].map(rarity);
  const mean = rare.reduce((sum, value) => sum + value, 0) / Math.max(1, rare.length);
  const open = question && turn === lastTurn;
  return (
    mean +
    (number ? 1 : 0) +
    0.6 * Math.min(2, names) +
    (role === "user" && !question ? 0.8 : 0) +
    (acted && role === "assistant" && !question ? 0.4 : 0) +
    (open ? 1 : question ? -0.6 : 0) +
    (words.size < 4 && !number ? -0.7 : 0) +
    0.1 * (turn / Math.max(1, lastTurn))
  );
}

const LABELLED = /^Turn (\d+), (user|assistant): /;

/** The rounds that an extract tells, as far as it does; what wasn't written by this is told as one. */
export function roundsToldBy(summary: string): SummaryRound[] {
  return summary.split("\n").map((line) => {
    const [labelled = "", turn = 0, role] = LABELLED.exec(line) ?? [];
    const text = line.slice(labelled.length);
    return { turn: Number(turn), user: role === "user" ? text : null, assistant: role === "user" ? null : text, acted: false };
  });
}

function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const word of a) if (b.has(word)) shared += 1;
  return shared / Math.max(1, a.size + b.size - shared);
}

function label(sentence: Pick<Sentence, "turn" | "role">): string {
  return `Turn ${sentence.turn}, ${sentence.role}:`;
}

function render(chosen: readonly Sentence[]): string {
  const lines: string[] = [];
  let before = "";
  for (const sentence of chosen.toSorted((a, b) => a.order - b.order)) {
    const who = label(sentence);
    if (who === before) lines[lines.length - 1] += ` ${sentence.text}`;
    else lines.push(`${who} ${sentence.text}`);
    before = who;
  }
  return lines.join("\n");
}
