import { signal } from "@preact/signals";
import { api } from "./api.js";
import { me, on, tell } from "./state.js";

/** Whether the server can be reached: one notice while it can't, and a way to wait for it. */

const FIRST_LOOK_MS = 1000;
const LONGEST_MS = 15000;

let back: Promise<void> | null = null;
export const isDown = signal(false);

/** Resolves when the server answers, at once where it does. */
export async function backAgain(): Promise<void> {
  if (await api.alive()) return;
  back ??= waitUntilUp().finally(() => {
    back = null;
  });
  await back;
}

async function waitUntilUp(): Promise<void> {
  isDown.value = true;
  tell("connection", { up: false });
  for (let wait = FIRST_LOOK_MS; ; wait = Math.min(LONGEST_MS, wait * 2)) {
    await pause(wait, window, "online");
    if (await api.alive()) break;
  }
  isDown.value = false;
  tell("connection", { up: true });
}

/** Some time, or until something happens. */
export function pause(ms: number, target: EventTarget, event: string): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      target.removeEventListener(event, done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    target.addEventListener(event, done);
  });
}

// Any request that finds the server gone starts the wait.
on("unreachable", () => void (me.value && backAgain()));
