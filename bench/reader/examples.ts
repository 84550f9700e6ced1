import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type SentenceSeen, wordsOf } from "../../packages/offline/src/learnt/sentence-features.js";
import { meaningIn } from "../../packages/offline/src/learnt/sentence-judge.js";
import { type Sentence, sentencesOf } from "../../packages/offline/src/reading/clauses.js";
import { english, languageIn } from "../../packages/offline/src/reading/language.js";
import { type Conversation, type Expected, fits } from "../../src/operations/evaluation-set.js";
import { BROUGHT, ownText } from "../../src/platform/own-text.js";
import type { Embedder } from "../../src/ports/embedding.js";

/** A sentence and what a person thinks of it. */
export interface JudgedSentence {
  readonly seen: SentenceSeen;
  readonly keep: boolean;
  readonly hard: boolean;
  /** It takes back what was said before. Null: not told. */
  readonly back: boolean | null;
  /** Null: not told. */
  readonly category: string | null;
  /** As how many it counts in what is worth keeping. */
  readonly weight: number;
}

/** An embedder, and how many numbers of its vectors are a text's meaning. */
export type Meaningful = Pick<Embedder, "embed"> & { readonly meaning: number };

/** The share of a quote, or of a sentence, that both must have in common to be one. */
const IN_COMMON = 0.5;
/** Of these groups a first message tells what a later one takes back: it isn't expected, and is no wrong example either. */
const TAKES_BACK = new Set(["correction", "negation", "dontkeep"]);

/** What guests write counts more than what was written to teach; least what has more to tell in one message than they have. */
const OF_GUESTS = 6;
const CROWDED = new Set(["all-at-once"]);
/** Here sentences take back what stands before them, and aren't marked. */
const UNMARKED = new Set(["taken-back"]);
const BACK = new Set(["<", ">"]);
const LASTS = new Set(["+", "!", ">"]);

/** Those of a conversation, as the reader parts it. What is expected for one trip only, and what is taken back, is left out. */
export async function sentencesIn(conversation: Conversation, embedder: Meaningful): Promise<readonly JudgedSentence[]> {
  const { messages, expect, group } = conversation;
  const judged: JudgedSentence[] = [];
  for (const [turn, text] of messages.entries()) {
    const own = ownText(text);
    const sentences = sentencesOf(own, (word) => english.titles.has(word));
    const seen = await seenOf(
      sentences.map((sentence) => sentence.text),
      own.replaceAll(BROUGHT, ""),
      embedder,
    );
    for (const [place, sentence] of sentences.entries()) {
      const told = expect.filter((expected) => expected.turn === turn && tells(text, sentence, expected));
      const fitting = told.length > 0 ? told : expect.filter((expected) => fits(sentence.text, expected));
      const lasting = fitting.filter(({ scope }) => scope === "standing");
      const [first] = seen.slice(place, place + 1);
      if (first === undefined || (lasting.length === 0 && fitting.length > 0)) continue;
      if (lasting.length === 0 && turn < messages.length - 1 && TAKES_BACK.has(group)) continue;
      judged.push({
        seen: first,
        keep: lasting.length > 0,
        hard: lasting.some(({ hard }) => hard),
        back: backIn(conversation, turn, place),
        category: lasting[0]?.category.split("|")[0] ?? null,
        weight: OF_GUESTS,
      });
    }
  }
  return judged;
}

const FILES = [
  "sentences",
  "eating-out",
  "travel",
  "families",
  "abroad",
  "borderline",
  "everyday",
  "evenings",
  "stays",
  "asked",
  "teasing",
  "other-people",
  "asides",
  "needs-told",
  "other-tongues",
  "habits",
  "taken-back",
  "all-at-once",
  "unsaid",
];
/**
 * The files of what was written for training: `+` lasts, `!` must hold, `-` nothing, `<` takes back what was said, `>` and says what lasts
 * instead; ` | ` parts the sentences of one message.
 */
export const WRITTEN = FILES.map(pathOf);

function pathOf(name: string): string {
  return `bench/reader/${name}.txt`;
}

/** What a line of such a file says, with its marks. */
export function linesOf(file: string): readonly (readonly { readonly mark: string; readonly text: string }[])[] {
  const lines = readFileSync(fileURLToPath(new URL(`../../${file}`, import.meta.url)), "utf8").split("\n");
  return lines.filter(Boolean).map((line) => line.split(" | ").map((part) => ({ mark: part.charAt(0), text: part.slice(2) })));
}

export async function writtenSentences(embedder: Meaningful): Promise<readonly JudgedSentence[]> {
  const judged: JudgedSentence[] = [];
  for (const file of FILES)
    for (const parts of linesOf(pathOf(file))) {
      const texts = parts.map(({ text }) => text);
      const weight = CROWDED.has(file) ? 0.5 : 1;
      for (const [place, seen] of (await seenOf(texts, texts.join(" "), embedder)).entries()) {
        const mark = parts[place]?.mark ?? "-";
        const back = UNMARKED.has(file) ? null : BACK.has(mark);
        judged.push({ seen, keep: LASTS.has(mark), hard: mark === "!", back, category: null, weight });
      }
    }
  return judged;
}

/** Which sentence of a message does it isn't told: the first is where it does so to the message before. */
function backIn({ messages, group }: Conversation, turn: number, place: number): boolean | null {
  if (!TAKES_BACK.has(group)) return false;
  return turn === 0 || turn < messages.length - 1 || place > 0 || group === "negation" ? null : true;
}

async function seenOf(texts: readonly string[], message: string, embedder: Meaningful): Promise<readonly SentenceSeen[]> {
  const [whole = new Float32Array(), ...each] = (await embedder.embed([message, ...texts])).map((vector) =>
    meaningIn(vector, embedder.meaning),
  );
  const english = languageIn(message).name === "en";
  const about = { message, messageWords: wordsOf(message), messageMeaning: whole, sentences: texts.length, english };
  return texts.map((text, place) => ({ ...about, text, place, meaning: each[place] ?? new Float32Array() }));
}

function tells(message: string, sentence: Sentence, { quote }: Expected): boolean {
  const at = message.indexOf(quote);
  const common = Math.min(at + quote.length, sentence.start + sentence.text.length) - Math.max(at, sentence.start);
  return at !== -1 && common > 0 && common >= IN_COMMON * Math.min(quote.length, sentence.text.length);
}
