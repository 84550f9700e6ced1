import { api } from "./api.js";
import { on, state, tell } from "./bus.js";
import { byId } from "./dom.js";

/** Whether the server can be reached: one notice while it can't, and a way to wait for it. */

const FIRST_LOOK_MS = 1000;
const LONGEST_MS = 15000;

let down = null;

/** Resolves when the server answers, at once where it does. */
export async function backAgain() {
  if (await api.alive()) return;
  down ??= waitUntilUp();
  await down;
}

async function waitUntilUp() {
  byId("connection").hidden = false;
  tell("connection", { up: false });
  for (let pause = FIRST_LOOK_MS; ; pause = Math.min(LONGEST_MS, pause * 2)) {
    await wakesWithin(pause);
    if (await api.alive()) break;
  }
  down = null;
  byId("connection").hidden = true;
  tell("connection", { up: true });
}

/** A while, or until the network is back. */
function wakesWithin(ms) {
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

/** Any request that finds the server gone starts the wait. */
export function startConnection() {
  on("unreachable", () => void (state.me && backAgain()));
}
