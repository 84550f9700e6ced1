import { readFile } from "node:fs/promises";
import { z } from "zod";
import { cosine } from "../../src/platform/numbers.js";
import type { Embedder } from "../../src/ports/embedding.js";

const guestSchema = z.object({
  guest: z.string(),
  lang: z.string(),
  memories: z.array(z.object({ id: z.string(), text: z.string() })),
  questions: z.array(z.object({ q: z.string(), needs: z.array(z.string()), ql: z.string().optional() })),
});
export type Guest = z.output<typeof guestSchema>;

const AT = 5;
/** What nobody's memories have to do with. */
const UNRELATED = ["zzzz", "what time is it", "What time is it?", "hello", "thanks!", "asdf", "ok", "qqqqq", "who are you?", "lorem ipsum"];

export async function readGuests(file: string | URL): Promise<Guest[]> {
  const lines = (await readFile(file, "utf8")).split("\n").filter((line) => line.trim() !== "");
  return lines.map((line) => guestSchema.parse(JSON.parse(line)));
}

/** Of the questions: how many find any, and all, of what they need. */
export interface Found {
  readonly questions: number;
  readonly any: number;
  readonly all: number;
}
export interface Score {
  readonly english: Found;
  readonly others: Found;
  /** As `others`, with only what the embedder takes for relevant; and so for English. */
  readonly relevant: Found;
  /** Memories that an unrelated question finds, over all guests and questions. */
  readonly unrelated: number;
}

/** Within each guest's memories, by likeness alone. */
export async function scoreOf(embedder: Embedder, guests: readonly Guest[]): Promise<Score> {
  const english: Outcome[] = [];
  const others: Outcome[] = [];
  const relevant: Outcome[] = [];
  let unrelated = 0;
  for (const { lang, memories, questions } of guests) {
    const documents = await embedder.embed(
      memories.map(({ text }) => text),
      { kind: "document" },
    );
    const nearest = async (question: string) => {
      const [query = new Float32Array()] = await embedder.embed([question], { kind: "query" });
      const scored = documents.map((vector, at) => ({ id: memories[at]?.id ?? "", score: cosine(query, vector) }));
      const best = scored.sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1)).slice(0, AT);
      const from = embedder.relevantFrom?.(query) ?? Number.NEGATIVE_INFINITY;
      return { best: best.map(({ id }) => id), relevant: best.filter(({ score }) => score >= from && score > 0).map(({ id }) => id) };
    };
    for (const { q, needs, ql = lang } of questions) {
      const found = await nearest(q);
      (ql === "en" ? english : others).push(outcome(needs, found.best));
      if (ql === "en") relevant.push(outcome(needs, found.relevant));
    }
    for (const question of UNRELATED) unrelated += (await nearest(question)).relevant.length;
  }
  return { english: sum(english), others: sum(others), relevant: sum(relevant), unrelated };
}

interface Outcome {
  readonly any: boolean;
  readonly all: boolean;
}

function outcome(needs: readonly string[], found: readonly string[]): Outcome {
  return { any: needs.some((id) => found.includes(id)), all: needs.every((id) => found.includes(id)) };
}

function sum(outcomes: readonly Outcome[]): Found {
  const share = (which: keyof Outcome) => outcomes.filter((each) => each[which]).length / Math.max(1, outcomes.length);
  return { questions: outcomes.length, any: share("any"), all: share("all") };
}
