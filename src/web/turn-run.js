import { backAgain } from "./connection.js";
import { passes } from "./problems.js";
import { turnEvents } from "./turn-stream.js";

/** How often a turn that lost its connection is sent again by itself before the guest is asked. */
const RESENDS = 5;
/** Before it goes out again: most is over by then. */
const FIRST_PAUSE_MS = 200;
const PAUSE_MS = 1500;

/**
 * Runs a turn to its answer and tells `view` what comes. Where the connection is lost on the way, the same body goes out again under the
 * same key as soon as the server is back. Resolves to the answer; null where the guest has stopped it. @throws Problem
 */
export async function runTurn(attempt, signal, view) {
  for (let sent = 0; ; sent += 1) {
    try {
      for await (const { event, data } of turnEvents(attempt, signal)) {
        if (event === "message") return data;
        view.onEvent(event, data);
      }
    } catch (error) {
      if (error.name === "AbortError" || signal.aborted) return null;
      if (!passes(error) || sent >= RESENDS) throw error;
      view.onLost();
      await Promise.race([pause(sent === 0 ? FIRST_PAUSE_MS : PAUSE_MS).then(backAgain), aborted(signal)]);
      if (signal.aborted) return null;
      view.onAgain();
    }
  }
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function aborted(signal) {
  return new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}
