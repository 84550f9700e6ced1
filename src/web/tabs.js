import { on, state, tell } from "./bus.js";

/** Tabs of one guest in this browser, in step: what one did, the others are told, and read again. */

/** What is of use to other tabs. What came from another one is not sent on. */
const KINDS = ["memories", "sessions", "turn"];
/** What comes close together is told once, in milliseconds. */
const GATHER_MS = 200;

let channel = null;
const due = new Map();
let timer = 0;

function later(kind, detail) {
  due.set(`${kind} ${detail.session ?? ""}`, [kind, { ...detail, elsewhere: true }]);
  clearTimeout(timer);
  timer = setTimeout(() => {
    const heard = [...due.values()];
    due.clear();
    for (const [each, told] of heard) tell(each, told);
  }, GATHER_MS);
}

export function startTabs() {
  on("identity", () => {
    channel?.close();
    const { tenant, id } = state.me.user;
    channel = new BroadcastChannel(`maitred ${JSON.stringify([tenant, id])}`);
    channel.addEventListener("message", ({ data }) => {
      if (KINDS.includes(data?.kind)) later(data.kind, { session: data.session });
    });
  });
  for (const kind of KINDS) on(kind, ({ elsewhere, session }) => elsewhere || channel?.postMessage({ kind, session }));
}
