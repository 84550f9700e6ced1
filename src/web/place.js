import { tell } from "./bus.js";

/** The page's address: `#<conversation>` or `#<conversation>/<message>`. What is open can be linked to, and Back goes back. */

const NAME = "Maitred";

/** `{ session, message }` of the address, each null where it names none. */
export function place() {
  const [session = "", message = ""] = location.hash.slice(1).split("/");
  try {
    return { session: session || null, message: message ? decodeURIComponent(message) : null };
  } catch {
    return { session, message: null };
  }
}

/** Shows what is open in the address and in the page's title. `instead`: the address before leads nowhere any more. */
export function showPlace(session, title, { instead = false } = {}) {
  document.title = session && title ? `${title} · ${NAME}` : NAME;
  if (place().session === session) return;
  const address = location.pathname + (session ? `#${session}` : "");
  if (instead) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
}

/** Back, Forward, a link on the page, or an address typed by hand. */
addEventListener("popstate", () => {
  const { session, message } = place();
  if (session) tell("open", { id: session, message });
  else tell("new", { incognito: false });
});
