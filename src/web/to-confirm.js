import { api } from "./api.js";
import { state } from "./bus.js";
import { button, el, toast, toastProblem } from "./dom.js";

/** What waits for the guest's word: a short question with Yes and No, wherever it is shown. */

/**
 * What the message that ends a memory told in its place: what must hold for the same person in the same matter, or is said of the same
 * thing. It holds already, whatever becomes of the end.
 */
function toldInstead({ id, category, aspect, subject, pending_change: change }, known) {
  const message = change.op === "end" ? change.source?.message_id : undefined;
  if (message === undefined) return "";
  const isAlike = (other) => other.strength === "hard" || (aspect !== "" && other.aspect === aspect);
  const told = known.filter(
    (other) =>
      other.id !== id && other.source?.message_id === message && other.category === category && other.subject === subject && isAlike(other),
  );
  return told.map(({ text }) => text).join("; ");
}

/**
 * What of a memory waits, as an answer's `to_confirm` has it, and what was told `instead`; null where nothing does. `known`: the memories
 * that hold.
 */
export function waitingOf(memory, known) {
  const { id, category, strength, subject, pending_change: change } = memory;
  if (change) {
    const taken = `${change.op === "forget" ? "Forget" : "No longer"}: ${memory.text}`;
    const text = change.statement ? `${change.statement.text} (instead of: ${memory.text})` : taken;
    return {
      id,
      text,
      category,
      strength,
      subject,
      quote: change.source?.quote ?? "",
      change: change.op,
      instead: toldInstead(memory, known),
    };
  }
  if (memory.status !== "review") return null;
  return { id, text: memory.text, category, strength, subject, reason: memory.reason, quote: memory.source?.quote ?? "" };
}

function questionOf({ id, text, subject, change, reason, instead = state.waiting.get(id)?.instead }) {
  const who = subject?.startsWith("companion:") ? ` (${subject.slice(10)})` : "";
  if (reason === "off_record") return `You asked not to keep “${text}”${who}. Keep it all the same, so that bookings mind it?`;
  return change ? `${text}${who}${instead ? ` (now: ${instead})` : ""}?` : `Shall I keep “${text}”${who}?`;
}

/** The question as a chip. `onSettled` is called once the server has the answer. */
export function confirmView(waiting, onSettled) {
  const question = questionOf(waiting);
  const node = el("div", { class: waiting.strength === "hard" ? "confirm hard" : "confirm", role: "group", "aria-label": question });
  node.dataset.memory = waiting.id;
  const settle = async (work, said) => {
    for (const each of node.querySelectorAll("button")) each.disabled = true;
    try {
      await work();
      const told = el("span", { role: "status", tabindex: "-1" }, said);
      // Whoever went on to something else meanwhile stays there.
      const waits = document.activeElement === document.body || node.contains(document.activeElement);
      node.replaceChildren(told);
      node.classList.add("settled");
      if (waits) told.focus();
      onSettled();
    } catch (error) {
      // Settled meanwhile, in talk or on another page.
      if (error.status === 404 || error.status === 400) node.remove();
      for (const each of node.querySelectorAll("button")) each.disabled = false;
      if (error.status !== 400) return toastProblem(error);
      toast("That was answered already.");
      onSettled();
    }
  };
  node.append(
    el("span", { class: "question", dir: "auto" }, question),
    ...(waiting.quote ? [el("span", { class: "small said", dir: "auto" }, `You said: “${waiting.quote}”`)] : []),
    el(
      "span",
      { class: "row" },
      button("Yes", () => void settle(() => api.approve(waiting.id), waiting.change ? "Changed." : `Kept: ${waiting.text}`), {
        class: "secondary",
        "aria-label": `Yes. ${question}`,
      }),
      button("No", () => void settle(() => api.reject(waiting.id), waiting.change ? "Left as it was." : "Not kept."), {
        "aria-label": `No. ${question}`,
      }),
    ),
  );
  return node;
}

/** Takes away chips of what waits no more, and all but the newest of each. */
export function keepWaiting(log, ids) {
  const shown = new Set();
  for (const node of [...log.querySelectorAll(".confirm:not(.settled)")].reverse()) {
    if (!ids.has(node.dataset.memory) || shown.has(node.dataset.memory)) node.remove();
    shown.add(node.dataset.memory);
  }
}
