/**
 * What the parts of the page tell each other. A part tells what happened and need not know who listens:
 *
 * - `identity` {}: who speaks is known, or has changed; `state.me` is there
 * - `session` { id, begun, live }: another conversation is open, `id` null for a new one; or it has just `begun`. `live`: it was there
 *   all the time, with what was said in it
 * - `said` { conversation, exchange }: the guest has said something; `taken` { session }: the server has it, said in that conversation,
 *   null for a new one
 * - `edited` { session }: the form of the last message is closed
 * - `turn` { session, turn, ok, failed }: a turn is over: answered, failed, or stopped
 * - `memories` {}: something was added, changed, confirmed or forgotten; who shows memories reads them again
 * - `known` {}: memories were read again; `state.known` and `state.waiting` are there
 * - `sessions` {}: the list of conversations has changed
 * - `running` { conversation }: a turn began or ended somewhere; `state.running` is there
 * - `unreachable` {}: a request found no server; `connection` { up }: it is gone, or is back
 *
 * With `elsewhere` it was not this tab that did it. `memories` with `shown`, and `sessions` with `listed`: this page shows it already.
 *
 * and asks for what another part does:
 *
 * - `open` { id, message }: open that conversation, and show that message where one is named
 * - `new` { incognito }: start a conversation
 * - `stop` { id }: stop the answer that is under way in that conversation
 * - `say` { text }: put words into the message field; `speak` { text }: say them for the guest, whose button was pressed
 */
const bus = new EventTarget();

export function tell(kind, detail = {}) {
  bus.dispatchEvent(new CustomEvent(kind, { detail }));
}

/** Gives the way to stop listening. */
export function on(kind, listener) {
  const heard = (event) => listener(event.detail);
  bus.addEventListener(kind, heard);
  return () => bus.removeEventListener(kind, heard);
}

/** What all parts may read. Each field has one writer. */
export const state = {
  /** The answer of `/v1/me`; null before it is known. */
  me: null,
  /** The open conversation's id; null for one that has not begun. */
  session: null,
  /** Ids of the conversations in which an answer is under way, open or not. */
  running: new Set(),
  /** The open conversation is kept out of memory. */
  incognito: false,
  /** The guest has paused memory: no turn is remembered until they say otherwise. */
  paused: false,
  /** How many memories are active; null where that is not known. */
  known: null,
  /** What waits for the guest's word, by memory id, as an answer's `to_confirm` has it, with `session` and `turn`. */
  waiting: new Map(),
};
