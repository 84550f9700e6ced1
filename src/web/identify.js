import { api, identity } from "./api.js";
import { state, tell } from "./bus.js";
import { ask, toast } from "./dom.js";

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
      if (error.status !== 401) throw error;
      const token = await ask({
        title: "Sign in",
        text: "Please sign in with the key that you were given.",
        field: { label: "Key", type: "password", max: 8192 },
        confirm: "Sign in",
      });
      if (token === null) throw error;
      identity.withToken(token);
    }
  }
}
