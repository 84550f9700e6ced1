import { effect } from "@preact/signals";
import { eventsIn, quietWatch, request } from "./api.js";
import { pause } from "./connection.js";
import { problemOf } from "./problems.js";
import { me, on, type TurnOver, tell } from "./state.js";

/**
 * Pages of one guest in step. What a tab does it tells the others at once; what is done through other doors (another device, a tool, the
 * library), the server's events tell one of them, and that one the others: a browser has few connections to one server.
 */

/** What is of use to other tabs. What came from another one is not sent on. */
const KINDS = ["memories", "sessions", "turn"] as const;
type Told = { readonly kind: (typeof KINDS)[number] } & Partial<TurnOver>;
/** Which parts of the page an event is about, by its subject. */
const PARTS: Readonly<Record<string, readonly Told["kind"][]>> = {
  memory: ["memories"],
  session: ["sessions"],
  owner: ["memories", "sessions"],
  turn: ["turn"],
};
const AGAIN_MS = 5_000;
const AGAIN_MAX_MS = 120_000;
/** What comes close together is told once, in milliseconds. */
const GATHER_MS = 250;
/** Turns that are remembered as shown. */
const MAX_SHOWN = 200;

let channel: BroadcastChannel | null = null;
let following = new AbortController();
let timer: ReturnType<typeof setTimeout> | undefined;
const due = new Map<string, Told>();
/** Turns that this page shows already, or is told of: an event may come before or after. */
const shown = new Set<string>();

/** Gives whether it was new. */
function markShown({ session, turn }: Partial<TurnOver>): boolean {
  const size = shown.size;
  shown.add(`${session} ${turn}`);
  const isNew = shown.size > size;
  const [oldest] = shown;
  if (shown.size > MAX_SHOWN && oldest !== undefined) shown.delete(oldest);
  return isNew;
}

function later(told: Told): void {
  due.set(`${told.kind} ${told.session ?? ""} ${told.turn ?? ""}`, told);
  clearTimeout(timer);
  timer = setTimeout(() => {
    const heard = [...due.values()];
    due.clear();
    for (const { kind, session = null, turn } of heard)
      if (kind !== "turn" || turn === undefined || markShown({ session, turn })) tell(kind, { session, turn, elsewhere: true });
  }, GATHER_MS);
}

type ServerEvent = Readonly<{ type: string; data: { readonly session_id?: string; readonly turn?: number } }>;

/** Until it is aborted, or the server turns out to have no events. */
async function follow(heard: (told: Told) => void, signal: AbortSignal): Promise<void> {
  for (let wait = AGAIN_MS; !signal.aborted; wait = Math.min(2 * wait, AGAIN_MAX_MS)) {
    // A connection may die without a word.
    const dead = new AbortController();
    const quiet = quietWatch(() => dead.abort());
    try {
      signal.addEventListener("abort", () => dead.abort(), { once: true, signal: dead.signal });
      const options = { headers: { Accept: "text/event-stream" }, signal: dead.signal, quiet: true };
      const response = await request("GET", "/v1/me/events", options);
      for await (const { event, data } of eventsIn(response, () => quiet.heard())) {
        wait = AGAIN_MS;
        if (event === "ready") continue;
        const { type, data: about } = data as ServerEvent;
        for (const kind of PARTS[type.split(".")[0] ?? ""] ?? []) heard({ kind, session: about.session_id ?? null, turn: about.turn });
      }
    } catch (error) {
      if ([404, 401].includes(problemOf(error).status)) return;
    } finally {
      quiet.end();
      dead.abort();
    }
    if (signal.aborted) return;
    await pause(wait, signal, "abort");
    // What happened meanwhile is not told again.
    heard({ kind: "memories" });
    heard({ kind: "sessions" });
  }
}

function followAs(name: string): void {
  channel?.close();
  following.abort();
  following = new AbortController();
  const own = new BroadcastChannel(name);
  channel = own;
  own.addEventListener("message", ({ data }) => {
    if (KINDS.includes(data?.kind)) later(data);
  });
  const heard = (told: Told) => {
    own.postMessage(told);
    later(told);
  };
  const { signal } = following;
  navigator.locks
    ?.request(`${name} events`, { signal }, () => follow(heard, signal))
    .catch(() => {
      // Stopped while it waited for its turn.
    });
}

export function startTabs(): void {
  effect(() => {
    if (me.value !== null) followAs(`maitred ${JSON.stringify([me.value.user.tenant, me.value.user.id])}`);
  });
  for (const kind of KINDS)
    on(kind, (told: Partial<TurnOver> & { readonly elsewhere?: boolean }) => {
      const { elsewhere, session = null, turn } = told;
      if (elsewhere) return;
      if (kind === "turn") markShown({ session, turn });
      channel?.postMessage({ kind, session, turn });
    });
}
