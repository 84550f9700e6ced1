import { el, when } from "./dom.js";
import { memoryApi } from "./memory-api.js";

/** What happened to a memory, and what holds no more. */

const WORDS = {
  added: "Noted",
  confirmed: "Said again",
  edited: "Changed by you",
  superseded: "Replaced",
  approved: "You said yes",
  expired: "Ran out",
  forgotten: "Forgotten",
};

/** A memory's life, oldest first. */
export async function historyView(memory) {
  const events = await memoryApi.history(memory.id);
  return [
    el(
      "ol",
      { class: "plain changes" },
      events.map(({ at, event, text }) =>
        el(
          "li",
          {},
          el("span", { class: "small" }, `${when(at)} · ${WORDS[event] ?? event}`),
          text && el("span", { class: event === "superseded" ? "past" : "" }, text),
        ),
      ),
    ),
  ];
}

/** What was true once. `known`: what holds now, by id, to say what came instead. */
export async function pastView(known) {
  const past = await memoryApi.all({ status: "superseded" });
  if (past.length === 0) return [el("p", { class: "small" }, "Nothing has changed so far.")];
  return [
    el(
      "ul",
      { class: "plain changes" },
      past.map((memory) => {
        const instead = known.get(memory.superseded_by)?.text;
        return el(
          "li",
          {},
          el("span", { class: "past" }, memory.text),
          el("span", { class: "small" }, instead ? `${when(memory.updated_at)} · now: ${instead}` : `Until ${when(memory.updated_at)}`),
        );
      }),
    ),
  ];
}
