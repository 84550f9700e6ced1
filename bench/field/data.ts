import { HashingEmbedder } from "../../src/embedding/hashing-embedder.js";
import { textOf } from "../recall/memory-texts.js";

/** The same for everybody: what was said, what is remembered, who asks, and what embeds. */

export const DIMENSION = 384;
/** A turn's window. */
export const WINDOW_ROUNDS = 10;
export const WINDOW_MESSAGES = WINDOW_ROUNDS * 2;
/** How many memories or messages a search is asked for. */
export const FOUND = 5;

const embedder = new HashingEmbedder({ dimension: DIMENSION });

/** By the embedder of the project that needs no model: in this process, and the same on every machine. */
export async function embed(text: string): Promise<number[]> {
  const [vector = new Float32Array()] = await embedder.embed([text]);
  return Array.from(vector);
}

export interface Said {
  readonly role: "user" | "assistant";
  readonly content: string;
}

const ANSWER = "Three concerts fit; the second one has step-free access and two seats together in row F. ".repeat(3);

/** A round of a conversation: a question and its answer. */
export function roundOf(n: number): readonly [Said, Said] {
  return [
    { role: "user", content: `What is on this weekend, number ${n}?` },
    { role: "assistant", content: `${ANSWER}That was answer ${n}.` },
  ];
}

export function roundsOf(count: number): Said[] {
  return Array.from({ length: count }, (_, n) => roundOf(n)).flat();
}

/** What the guest says in turn `n`; its second sentence is there to be remembered. */
export function messageOf(n: number): string {
  return `Is there anything in the old town on day ${n}? I like seats in row ${n}.`;
}

export const INSTRUCTIONS = "You are a concierge. Answer briefly.";

/** Users have as many memories each; the first of them is the one who asks. */
export function userOf(memory: number, each: number): string {
  return `guest-${Math.floor(memory / each)}`;
}

/** Texts of memories in turn, with their users, until the time is up; returns how many were loaded. */
export async function loadMemories(
  { from = 0, to, each, loadMs, chunk = 1_000 }: { from?: number; to: number; each: number; loadMs: number; chunk?: number },
  load: (memories: readonly { readonly n: number; readonly user: string; readonly text: string }[]) => Promise<void>,
): Promise<number> {
  const until = performance.now() + loadMs;
  let loaded = from;
  while (loaded < to && performance.now() < until) {
    const count = Math.min(chunk, to - loaded);
    await load(
      Array.from({ length: count }, (_, index) => {
        const n = loaded + index;
        return { n, user: userOf(n, each), text: textOf(n) };
      }),
    );
    loaded += count;
  }
  return loaded;
}

/** Told where not all memories could be loaded in the time that everybody has. */
export function leftOut(loaded: number, wanted: number): { readonly note?: string } {
  if (loaded >= wanted) return {};
  return { note: `with ${loaded.toLocaleString("en")} memories: no more could be loaded in the time that all have` };
}

/** @throws when a search did not find what is there */
export function expectFound(found: readonly unknown[], wanted: number = FOUND): void {
  if (found.length !== wanted) throw new Error(`found ${found.length} instead of ${wanted}`);
}
