import { api, identity, whenSignedOut } from "./api.js";
import { problemOf } from "./problems.js";
import { me, tell } from "./state.js";
import { ask, toast } from "./ui.js";

/** Finding out who speaks, and asking for a key where the server wants one. */

const ASKED = "Please sign in with the key that you were given.";
const REFUSED = "That key isn't taken here, or no longer. Please look at it again.";
const ENDED = "You have been signed out. Please sign in again; nothing on this page is lost.";
/** What a header can carry. */
const KEY = /^[\x21-\x7e]+$/;

/** Asks until there is a key that may be one. Gives whether there is; false where the guest doesn't want to. */
async function askForKey(text: string): Promise<boolean> {
  for (let asked = text; ; asked = REFUSED) {
    const token = await ask({ title: "Sign in", text: asked, secret: "Key", confirm: "Sign in" });
    if (token === null) return false;
    if (!KEY.test(token)) continue;
    identity.withToken(token);
    return true;
  }
}

/** @throws Problem */
export async function identify(): Promise<void> {
  for (;;) {
    try {
      me.value = await api.me();
      return;
    } catch (error) {
      const { status } = problemOf(error);
      if (status === 400 && identity.user) {
        toast(`“${identity.user}” can't be a name here.`, { error: true });
        identity.asUser("");
      } else if (status !== 401 || !(await askForKey(identity.token ? REFUSED : ASKED))) throw error;
    }
  }
}

/** One dialog for all requests that find the guest signed out. */
let asking: Promise<boolean> | null = null;
/** It was put aside: what only reads doesn't ask again. */
let declined = false;

async function signInAgain(): Promise<boolean> {
  const before = me.value?.user;
  for (let text = ENDED; ; text = REFUSED) {
    declined = !(await askForKey(text));
    if (declined) return false;
    try {
      const now = await api.me();
      if (now.user.tenant !== before?.tenant || now.user.id !== before.id) {
        // Somebody else: nothing of the one before stays on the page, and nothing of theirs is sent.
        location.reload();
        return false;
      }
      me.value = now;
      tell("memories", {});
      return true;
    } catch (error) {
      if (problemOf(error).status !== 401) throw error;
    }
  }
}

whenSignedOut(async (token, method) => {
  // At the beginning `identify` asks by itself.
  if (me.value === null || (declined && method === "GET")) return false;
  if (token !== identity.token) return true;
  asking ??= signInAgain().finally(() => {
    asking = null;
  });
  return asking;
});
