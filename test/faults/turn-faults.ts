import { vi } from "vitest";
import type { Guest, Rig, Seen } from "./rig.js";
import { answeredOf, caughtUp, feltBy, runs } from "./store-faults.js";

/** A turn of Ada's that meets a fault; what came of it, and of the same request once all was well again. */
export type TurnOutcome = Readonly<{
  answered: string;
  /** What the journal holds of the turn before it is sent again. */
  kept: string;
  /** The same request with the same key, when all is well. */
  again: string;
  others: string;
  afterwards: string;
}>;

const KEY = "the-turn-that-met-the-fault";

/**
 * Ada says something to be remembered, and meets the fault; Bob talks at the same time. `during` runs while both do.
 * Then all is mended and the request is sent again.
 */
export async function underTurnFault(
  rig: Rig,
  fault: { start(): void; during?(): Promise<void>; readonly newSession?: boolean },
): Promise<TurnOutcome> {
  const { ada, bob } = rig;
  await rig.settle();
  if (fault.newSession === true) ada.startOver();
  const before = await journalOf(ada);
  const message = `I prefer ${ada.word} matinees.`;
  fault.start();
  const others: Seen[] = [];
  const [hers] = await Promise.all([
    ada.say(message, KEY),
    (async () => {
      others.push(await bob.prefer("matinees"));
      others.push(await bob.askAside());
      await fault.during?.();
    })(),
  ]);
  const othersSeen = await feltBy(bob, others);
  const journal = await journalOf(ada);
  const wants = hers.status === 503 && hers.retryAfter === null ? ", without Retry-After" : "";
  await rig.heal();
  await rig.slowDisk.settled();
  const again = await ada.say(message, KEY);
  // The same body: a request that was sent without a session is sent without one again.
  const { sessionId } = ada;
  if (fault.newSession === true) ada.startOver();
  const replayed = await ada.say(message, KEY);
  return {
    answered: `${answeredOf(hers)}${wants}${hers.memory === null ? "" : `, ${hers.memory}`}`,
    kept: `${journal.said.length - before.said.length} message, ${journal.answered - before.answered} answer`,
    again: runs([again, replayed].map(answeredOf)),
    others: othersSeen,
    afterwards: ada.sessionId === sessionId ? await caughtUp(ada, before.said.length + 1) : "another session was made",
  };
}

/**
 * What /readyz says where the fault meets everybody: 503 where turns would be refused, and nowhere else, which a turn of somebody new and one
 * in a session that there was show. Then all is mended.
 */
export async function readyzUnder(rig: Rig, start: () => void): Promise<string> {
  const { ada } = rig;
  start();
  const response = await rig.http.request("/readyz");
  const { parts } = (await response.json()) as { readonly parts: { readonly short_term: { readonly status: string } } };
  const turns = [await ada.askAside(), await rig.guest("cem", "ballet").askAside()].map(({ status }) => status === 200);
  await rig.heal();
  const ready = `${response.status} ${parts.short_term.status}`;
  return turns.every((isAnswered) => isAnswered === (response.status === 200))
    ? ready
    : `${ready}, and turns are answered: ${turns.join(", ")}`;
}

async function journalOf(guest: Guest): Promise<{ readonly said: readonly string[]; readonly answered: number }> {
  return guest.hasSession ? guest.journal() : { said: [], answered: 0 };
}

/** Resolves when a request that `which` chooses has come since `from`. */
export async function seenSince(rig: Rig, from: number, which: (body: unknown) => boolean): Promise<void> {
  await vi.waitFor(() => {
    if (!rig.openai.requests.slice(from).some(({ body }) => which(body))) throw new Error("no such request yet");
  }, 20_000);
}
