import { api, identity, whenSignedOut } from "./api.js";
import { state, tell } from "./bus.js";
import { ask, toast } from "./dom.js";

const ASKED = "Please sign in with the key that you were given.";
const REFUSED = "That key isn't taken here, or no longer. Please look at it again.";
const ENDED = "You have been signed out. Please sign in again; nothing on this page is lost.";
/** What a header can carry. */
const KEY = /^[\x21-\x7e]+$/;

/** Asks until there is a key that may be one. Gives whether there is; false where the guest doesn't want to. */
async function askForKey(text) {
  for (let asked = text; ; asked = REFUSED) {
    const token = await ask({ title: "Sign in", text: asked, field: { label: "Key", type: "password", max: 8192 }, confirm: "Sign in" });
    if (token === null) return false;
    if (!KEY.test(token)) continue;
    identity.withToken(token);
    return true;
  }
}

/** Finds out who speaks; asks for a token where the server wants one. @throws Problem */
export async function identify() {
  for (;;) {
    try {
      state.me = await api.me();
      return tell("identity");
    } catch (error) {
      if (error.status === 400 && identity.user) {
        toast(`“${identity.user}” can't be a name here.`, { error: true });
        identity.asUser("");
        continue;
      }
      if (error.status !== 401 || !(await askForKey(identity.token ? REFUSED : ASKED))) throw error;
    }
  }
}

/** One dialog for all requests that find the guest signed out. */
let asking = null;
/** It was put aside: what only reads doesn't ask again. */
let declined = false;

async function signInAgain() {
  const { tenant, id } = state.me.user;
  for (let text = ENDED; ; text = REFUSED) {
    declined = !(await askForKey(text));
    if (declined) return false;
    try {
      const me = await api.me();
      if (me.user.tenant !== tenant || me.user.id !== id) {
        // Somebody else: nothing of the one before stays on the page, and nothing of theirs is sent.
        location.reload();
        return false;
      }
      tell("identity");
      tell("memories");
      return true;
    } catch (error) {
      if (error.status !== 401) throw error;
    }
  }
}

whenSignedOut(async (token, method) => {
  // At the beginning `identify` asks by itself.
  if (state.me === null || (declined && method === "GET")) return false;
  if (token !== identity.token) return true;
  asking ??= signInAgain().finally(() => {
    asking = null;
  });
  return asking;
});
