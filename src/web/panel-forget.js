import { on, tell } from "./bus.js";
import { toast } from "./dom.js";
import { memoryApi } from "./memory-api.js";
import { wordsFor } from "./problems.js";

/**
 * Forgetting with a way back. The server forgets for good, so the request is held back while the notice with its Undo is there, and goes
 * at once where the page is left before.
 */

/** A little longer than the notice stands. */
const HOLD_MS = 10_500;

/** By memory id: what is about to be forgotten; null instead of a timer where it waits for the connection. */
const held = new Map();

export const isHeld = (id) => held.has(id);

/** `onBack`: it was taken back in time. */
export function forgetWithUndo(memory, onBack = () => {}) {
  if (held.has(memory.id)) return;
  held.set(
    memory.id,
    setTimeout(() => void send(memory.id), HOLD_MS),
  );
  toast(`Forgotten: ${memory.text}. In a few seconds it can't be brought back.`, {
    action: { label: "Undo", run: () => bringBack(memory.id, onBack) },
  });
  tell("memories");
}

function bringBack(id, onBack) {
  if (!held.has(id)) return toast("That is gone by now.", { error: true });
  clearTimeout(held.get(id));
  held.delete(id);
  onBack();
  tell("memories");
  toast("Kept.");
}

async function send(id) {
  try {
    await memoryApi.forget(id);
  } catch (error) {
    if (error.code === "OFFLINE") return void held.set(id, null);
    // Gone already: forgotten in talk, or on another page.
    if (error.status !== 404) toast(`Not forgotten: ${wordsFor(error).title}. Please try it once more.`, { error: true });
  }
  held.delete(id);
  tell("memories");
}

on("connection", ({ up }) => {
  if (up) for (const [id, timer] of held) if (timer === null) void send(id);
});

/** At once, as whoever speaks now: the page is left, or somebody else is about to speak. */
export async function forgetHeld() {
  const ids = [...held.keys()];
  for (const timer of held.values()) clearTimeout(timer);
  held.clear();
  await Promise.allSettled(ids.map((id) => memoryApi.forget(id, { last: true })));
}

addEventListener("pagehide", () => void forgetHeld());
