import { computed, signal } from "@preact/signals";
import { api } from "./api.js";
import type { Memory, Recalled, Waiting } from "./api-types.js";
import { companionOf, holdsWords, joined } from "./format.js";
import { problemOf, wordsFor } from "./problems.js";
import { known, me, memoryIsOn, on, tell, waiting } from "./state.js";
import { toast } from "./ui.js";

/** What is known about the guest: what holds, what waits for their word, and forgetting with a way back. */

/** A little longer than the notice of a forgetting stands. */
const HOLD_MS = 10_500;
/** From which score on a memory is near in meaning; scores of an embedder that compares words are lower. */
const NEAR = 0.35;
const NEAR_BY_WORDS = 0.15;

/** Those that hold, newest first. */
export const memories = signal<readonly Memory[]>([]);
/** Why they could not be read; null where they were. */
export const memoriesProblem = signal<unknown>(null);
export const companions = computed(() => [...new Set(memories.value.map(companionOf).filter((name) => name !== null))]);
let loads = 0;

/** Reads them again. Where memory is off there is nothing to ask for. */
export async function loadMemories(): Promise<void> {
  const mine = ++loads;
  if (!memoryIsOn()) return;
  try {
    const [active, review] = await Promise.all([api.allMemories(), api.allMemories({ status: "review" })]);
    if (mine !== loads) return;
    const there = active.filter(({ id }) => !held.has(id));
    const open = [...review, ...there.filter((memory) => memory.pending_change)].filter(({ id }) => !held.has(id));
    memories.value = there;
    memoriesProblem.value = null;
    waiting.value = new Map(open.map((memory) => [memory.id, waitingOf(memory, there)]));
    known.value = there.length;
  } catch (error) {
    if (mine === loads) memoriesProblem.value = error;
  }
}

/** What of a memory waits, as an answer's `to_confirm` has it, and what was told `instead`. */
function waitingOf(memory: Memory, there: readonly Memory[]): Waiting {
  const { id, text, category, strength, subject, reason, pending_change: change } = memory;
  const source = (change ? change.source : memory.source) ?? null;
  const same = { id, category, strength, subject, quote: source?.quote ?? "", session: source?.session_id ?? null };
  if (!change) return { ...same, text, reason };
  const taken = `${change.op === "forget" ? "Forget" : "No longer"}: ${text}`;
  const words = change.statement ? `${change.statement.text} (instead of: ${text})` : taken;
  return { ...same, text: words, change: change.op, instead: toldInstead(memory, there) };
}

/**
 * What the message that ends a memory told in its place: what must hold for the same person in the same matter, or is said of the same
 * thing. It holds already, whatever becomes of the end.
 */
function toldInstead({ id, category, aspect, subject, pending_change: change }: Memory, there: readonly Memory[]): string {
  const message = change?.op === "end" ? change.source?.message_id : undefined;
  if (message === undefined) return "";
  const isAlike = (other: Memory) => other.strength === "hard" || (aspect !== "" && other.aspect === aspect);
  const told = there.filter(
    (other) =>
      other.id !== id && other.source?.message_id === message && other.category === category && other.subject === subject && isAlike(other),
  );
  return joined(
    told.map(({ text }) => text),
    "; ",
  );
}

/** Those that fit: they hold the words, or are near in meaning. Best first; none rather than the least bad. */
export async function fittingMemories(query: string): Promise<readonly Memory[]> {
  const near = me.value?.server.embedder.lexical ? NEAR_BY_WORDS : NEAR;
  const scores = new Map((await api.searchMemories(query)).map(({ id, score }) => [id, score]));
  return memories.value
    .map((memory) => {
      const { id, text, category, subject, entities } = memory;
      return { memory, score: scores.get(id) ?? 0, held: Number(holdsWords([text, category, subject, ...entities].join(" "), query)) };
    })
    .filter((each) => each.held > 0 || each.score >= near)
    .sort((a, b) => b.held - a.held || b.score - a.score)
    .map(({ memory }) => memory);
}

/**
 * By id: what is about to be forgotten; null instead of a timer where it waits for the connection. The server forgets for good, so the
 * request is held back while the notice with its Undo is there, and goes at once where the page is left before.
 */
const held = new Map<string, ReturnType<typeof setTimeout> | null>();

/** `onBack`: it was taken back in time. */
export function forgetWithUndo({ id, text }: Pick<Recalled, "id" | "text">, onBack = () => {}): void {
  if (held.has(id)) return;
  held.set(
    id,
    setTimeout(() => void forget(id), HOLD_MS),
  );
  const bringBack = () => {
    if (!held.has(id)) return toast("That is gone by now.", { error: true });
    clearTimeout(held.get(id) ?? undefined);
    held.delete(id);
    onBack();
    tell("memories", {});
    toast("Kept.");
  };
  toast(`Forgotten: ${text}. In a few seconds it can't be brought back.`, { action: { label: "Undo", run: bringBack } });
  tell("memories", {});
}

async function forget(id: string): Promise<void> {
  try {
    await api.forget(id);
  } catch (error) {
    const { code, status } = problemOf(error);
    if (code === "OFFLINE") return void held.set(id, null);
    // Gone already: forgotten in talk, or on another page.
    if (status !== 404) toast(`Not forgotten: ${wordsFor(error).title}. Please try it once more.`, { error: true });
  }
  held.delete(id);
  tell("memories", {});
}

/** At once, as whoever speaks now: the page is left, or somebody else is about to speak. */
export async function forgetHeld(): Promise<void> {
  const ids = [...held.keys()];
  for (const timer of held.values()) clearTimeout(timer ?? undefined);
  held.clear();
  await Promise.allSettled(ids.map((id) => api.forget(id, true)));
}

on("connection", ({ up }) => {
  if (up) for (const [id, timer] of held) if (timer === null) void forget(id);
});
addEventListener("pagehide", () => void forgetHeld());
