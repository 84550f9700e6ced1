import { forThisTab } from "./browser-store.js";
import { state } from "./bus.js";

/**
 * The turns that this tab has under way, by conversation. Loading the page anew ends them on the server; there they are run again, each
 * under its own key, so that nothing is done twice.
 */

/** After that nobody waits for it any more: it is shown as stopped, and the guest may ask again. */
const SOON_MS = 10 * 60_000;

const keyOf = (session) => `maitred.turn.${state.me?.user.id ?? ""}.${session}`;

export const underWay = {
  /** `userId`: of the message that it answers. */
  begin(session, { attempt, userId }) {
    forThisTab.set(keyOf(session), JSON.stringify({ attempt, userId, at: Date.now() }));
  },
  end(session) {
    forThisTab.remove(keyOf(session));
  },
  /** `{ attempt, userId }`; null where there is none, or none that is still waited for. */
  of(session) {
    const text = forThisTab.get(keyOf(session));
    const { attempt, userId, at = 0 } = text ? JSON.parse(text) : {};
    return attempt && Date.now() - at < SOON_MS ? { attempt, userId } : null;
  },
};
