import { on, state, tell } from "./bus.js";
import { followEvents } from "./followed-events.js";

/**
 * Pages of one guest in step. What a tab does it tells the others at once; what is done elsewhere, the server's events tell one of them,
 * and that one the others.
 */

/** What is of use to other tabs. What came from another one is not sent on. */
const KINDS = ["memories", "sessions", "turn"];
/** What comes close together is told once, in milliseconds. */
const GATHER_MS = 250;
/** Turns that are remembered as shown. */
const MAX_SHOWN = 200;

let channel = null;
let stopFollowing = () => {};
const due = new Map();
let timer = 0;
/** Turns that this page shows already, or is told of: an event may come before or after. */
const shown = new Set();

const turnKey = ({ session, turn }) => `${session} ${turn}`;

function markShown(told) {
  shown.add(turnKey(told));
  if (shown.size > MAX_SHOWN) shown.delete(shown.values().next().value);
}

function later({ kind, session, turn }) {
  due.set(`${kind} ${session ?? ""} ${turn ?? ""}`, { kind, session, turn });
  clearTimeout(timer);
  timer = setTimeout(() => {
    const heard = [...due.values()];
    due.clear();
    for (const each of heard) hear(each);
  }, GATHER_MS);
}

function hear({ kind, session, turn }) {
  if (kind === "turn") {
    if (turn !== undefined && shown.has(turnKey({ session, turn }))) return;
    markShown({ session, turn });
  }
  tell(kind, { session, turn, elsewhere: true });
}

export function startTabs() {
  on("identity", () => {
    channel?.close();
    stopFollowing();
    const { tenant, id } = state.me.user;
    const name = `maitred ${JSON.stringify([tenant, id])}`;
    channel = new BroadcastChannel(name);
    channel.addEventListener("message", ({ data }) => {
      if (KINDS.includes(data?.kind)) later(data);
    });
    const own = channel;
    stopFollowing = followEvents(name, (told) => {
      own.postMessage(told);
      later(told);
    });
  });
  for (const kind of KINDS)
    on(kind, ({ elsewhere, session, turn }) => {
      if (elsewhere) return;
      if (kind === "turn") markShown({ session, turn });
      channel?.postMessage({ kind, session, turn });
    });
}
