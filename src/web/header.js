import { on, state } from "./bus.js";
import { byId } from "./dom.js";

/** The chip that says how much is known, and opens the panel of it. */

function wordOf({ paused, incognito, known, me }) {
  if (me === null) return ["empty", "Memory"];
  if (!me.server.long_term.enabled) return ["disabled", "Memory off"];
  if (incognito) return ["paused", "Temporary chat"];
  if (paused) return ["paused", "Memory paused"];
  if (known === null) return ["ok", "Memory on"];
  if (known === 0) return ["empty", "Knows nothing yet"];
  return ["ok", known === 1 ? "Knows 1 thing" : `Knows ${known} things`];
}

export function startHeader() {
  const show = () => {
    const [status, word] = wordOf(state);
    const waiting = state.waiting.size;
    byId("memory-word").textContent = word;
    byId("memory-chip").dataset.status = status;
    byId("temporary").hidden = !state.incognito;
    document.body.classList.toggle("temporary", state.incognito);
    byId("memory-waiting").hidden = waiting === 0 || status === "disabled";
    byId("memory-waiting").textContent = waiting === 0 ? "" : String(waiting);
    byId("memory-waiting").setAttribute("aria-label", waiting === 1 ? "one waits for your word" : `${waiting} wait for your word`);
  };
  for (const kind of ["known", "identity", "session"]) on(kind, show);
  show();
}
