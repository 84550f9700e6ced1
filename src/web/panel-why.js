import { el, when } from "./dom.js";
import { memoryApi } from "./memory-api.js";

/** Why something is known: the guest's own words, with the part that says it marked, and the way to where they were said. */

/** The message with its quote marked, as nodes; nothing is marked where the quote does not stand in it. */
export function marked(message, quote) {
  const at = quote ? message.indexOf(quote) : -1;
  if (at < 0) return [message];
  return [message.slice(0, at), el("mark", {}, quote), message.slice(at + quote.length)];
}

/** The address of a message in its conversation. */
export function messageLink({ session_id: session, message_id: message }) {
  return `#${session}/${encodeURIComponent(message)}`;
}

export async function whyView(memory) {
  const { source, because } = await memoryApi.why(memory.id);
  return [
    ...sourceView(source, because, memory),
    because.length > 0 &&
      el(
        "div",
        {},
        el("p", { class: "small" }, "It follows from:"),
        el(
          "ul",
          { class: "plain" },
          because.map((each) => el("li", {}, each.text)),
        ),
      ),
  ];
}

function sourceView(source, because, memory) {
  if (!source) return because.length > 0 ? [] : [el("p", { class: "small" }, `You added this yourself, ${when(memory.stated_at)}.`)];
  if (source.message === null) return [el("p", { class: "small" }, "You told me, in a conversation that is gone by now.")];
  return [
    el("p", { class: "small" }, `You said · ${when(memory.stated_at)}`),
    el("blockquote", { dir: "auto" }, marked(source.message, source.quote)),
    el("a", { class: "small", href: messageLink(source) }, "Show it in the conversation"),
  ];
}
