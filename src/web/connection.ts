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
  for (let pause = FIRST_LOOK_MS; ; pause = Math.min(LONGEST_MS, pause * 2)) {
    await wakesWithin(pause);
    if (await api.alive()) break;
  }
  isDown.value = false;
  tell("connection", { up: true });
}

/** A while, or until the network is back. */
function wakesWithin(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener("online", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    addEventListener("online", done);
  });
}

// Any request that finds the server gone starts the wait.
on("unreachable", () => void (me.value && backAgain()));
