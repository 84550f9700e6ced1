import { request } from "./api.js";
import { eventsIn } from "./event-stream.js";
import { QUIET_MS, QuietWatch } from "./quiet-watch.js";

/**
 * What happens to the guest's conversations and memories through other doors: another device, a tool, the library. One tab of a browser
 * follows it for all of them, as a browser has few connections to one server.
 */

const AGAIN_MS = 5_000;
const AGAIN_MAX_MS = 120_000;

/** Which parts of the page an event is about, by its subject. */
const PARTS = { memory: ["memories"], session: ["sessions"], owner: ["memories", "sessions"], turn: ["turn"] };

function partsOf({ type, data }) {
  const kinds = PARTS[type.split(".")[0]] ?? [];
  return kinds.map((kind) => ({ kind, session: data.session_id, turn: data.turn }));
}

function pause(ms, signal) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
    signal.addEventListener("abort", resolve, { once: true });
  });
}

/** Until it is aborted, or the server turns out to have no events. */
async function follow(heard, signal) {
  for (let wait = AGAIN_MS; !signal.aborted; wait = Math.min(2 * wait, AGAIN_MAX_MS)) {
    // A connection may die without a word.
    const dead = new AbortController();
    const quiet = new QuietWatch(() => dead.abort());
    const stop = () => dead.abort();
    signal.addEventListener("abort", stop);
    try {
      quiet.watch(QUIET_MS);
      const { body } = await request("GET", "/v1/me/events", {
        headers: { Accept: "text/event-stream" },
        signal: dead.signal,
        quiet: true,
      });
      for await (const { event, data } of eventsIn(body, () => quiet.heard())) {
        wait = AGAIN_MS;
        if (event !== "ready") for (const part of partsOf(data)) heard(part);
      }
    } catch (error) {
      if (error.status === 404 || error.status === 401) return;
    } finally {
      quiet.end();
      signal.removeEventListener("abort", stop);
    }
    if (signal.aborted) return;
    await pause(wait, signal);
    // What happened meanwhile is not told again.
    heard({ kind: "memories" });
    heard({ kind: "sessions" });
  }
}

/** `name`: of the guest, for the tabs of this browser to agree on one. `heard({ kind, session, turn })`. Gives the way to stop. */
export function followEvents(name, heard) {
  const stop = new AbortController();
  navigator.locks
    ?.request(`${name} events`, { signal: stop.signal }, () => follow(heard, stop.signal))
    .catch(() => {
      // Stopped while it waited for its turn.
    });
  return () => stop.abort();
}
