import type { Guest, Rig, Seen } from "./rig.js";

/** What was seen of a fault of a store that recall reads from: the embedder, or Qdrant. */
export type StoreOutcome = {
  /** HTTP status of the turns under the fault. */
  readonly answered: string;
  /** `memory.status` of the turns under the fault, in order. */
  readonly memory: string;
  /** What the turns still knew of the user. */
  readonly known: string;
  /** How many of the last seven of eight turns asked what is broken. */
  readonly asked: string;
  /** Whoever the fault doesn't meet, in the same process and at the same time. */
  readonly others: string;
  /** When all is well again. */
  readonly afterwards: string;
};

const TURNS = 8;

/**
 * Eight turns of Ada under a fault that meets her requests alone, Bob's beside them; the first of each is to be remembered.
 * Then all is mended. `asks` counts the requests of Ada's recalls that have reached what is broken.
 */
export async function underStoreFault(rig: Rig, fault: { start(): unknown; asks(): number }): Promise<StoreOutcome> {
  const { ada, bob } = rig;
  await rig.settle();
  await fault.start();
  const turns: Seen[] = [];
  const others: Seen[] = [];
  let asked = 0;
  for (let turn = 0; turn < TURNS; turn++) {
    const before = fault.asks();
    const say = (guest: Guest) => (turn === 0 ? guest.prefer("matinees") : guest.askAside());
    const [hers, his] = await Promise.all([say(ada), say(bob)]);
    turns.push(hers);
    others.push(his);
    if (turn > 0 && fault.asks() > before) asked += 1;
  }
  const othersSeen = await feltBy(bob, others);
  await rig.heal();
  return {
    answered: runs(turns.map(answeredOf)),
    memory: runs(turns.map((seen) => seen.memory ?? "none")),
    known: turns.some((seen) => textsOf(seen).some((text) => text.includes(bob.word)))
      ? "somebody else's memories"
      : turns.every((seen) => textsOf(seen).length === 0)
        ? "nothing"
        : turns.every((seen) => textsOf(seen).includes("Prefers jazz evenings"))
          ? "standing preferences"
          : "standing preferences, in some turns",
    asked: `${asked} of 7`,
    others: othersSeen,
    afterwards: await caughtUp(ada, TURNS + 1),
  };
}

export function answeredOf(seen: Seen): string {
  const what = seen.code === null ? String(seen.status) : `${seen.status} ${seen.code}`;
  return seen.inBound ? what : `${what}, too late`;
}

export function textsOf(seen: Seen): string[] {
  return seen.answer?.memory.recalled.map((memory) => memory.text) ?? [];
}

/** "nothing" when every turn was as on a good day and what the guest said is written back already. */
export async function feltBy(guest: Guest, turns: readonly Seen[]): Promise<string> {
  const wrong = turns.filter((seen) => answeredOf(seen) !== "200" || seen.memory !== "ok");
  if (wrong.length > 0) return runs(wrong.map((seen) => `${answeredOf(seen)} ${seen.memory ?? ""}`));
  if (!turns.every((seen) => textsOf(seen).includes(`Prefers ${guest.word} evenings`))) return "a memory was missing";
  if (!(await guest.flushed(false))) return "write-back had to wait";
  const memories = await guest.memories();
  return memories.join() === [`Prefers ${guest.word} evenings`, `Prefers ${guest.word} matinees`].join()
    ? "nothing"
    : `memories were ${memories}`;
}

/** "all caught up" when every turn is written back, each memory is there once, and recall is well. `turns`: what the journal must hold. */
export async function caughtUp(guest: Guest, turns: number): Promise<string> {
  if (!(await guest.flushed(true))) return `still pending: ${JSON.stringify(await guest.pending())}`;
  const memories = await guest.memories();
  if (memories.join() !== [`Prefers ${guest.word} evenings`, `Prefers ${guest.word} matinees`].join()) return `memories: ${memories}`;
  const journal = await guest.journal();
  if (journal.said.length !== turns || journal.answered !== turns)
    return `the journal holds ${journal.said.length} messages and ${journal.answered} answers`;
  const next = await guest.askAside();
  if (answeredOf(next) !== "200" || next.memory !== "ok") return `the next turn: ${answeredOf(next)}, ${next.memory}`;
  return "all caught up";
}

/** "timeout x3, degraded x5" */
export function runs(values: readonly string[]): string {
  const out: { value: string; count: number }[] = [];
  for (const value of values) {
    const last = out.at(-1);
    if (last?.value === value) last.count += 1;
    else out.push({ value, count: 1 });
  }
  return out.map(({ value, count }) => (count === 1 ? value : `${value} ×${count}`)).join(", ");
}
