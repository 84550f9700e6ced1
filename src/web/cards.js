import { approvalView } from "./approval-card.js";
import { quoteView, receiptView } from "./booking-cards.js";
import { el } from "./dom.js";
import { eventList } from "./event-cards.js";

/** What an answer's parts show: events in one column, offers with what stands against them, tickets. */

/** With its content as an object; null where that is text. */
export function readElement(element) {
  let data = null;
  try {
    data = JSON.parse(element.content);
  } catch {
    // Text, not JSON.
  }
  return { ...element, data: data !== null && typeof data === "object" && !Array.isArray(data) ? data : null };
}

/** A warning and the offer that it stands against have one token. */
const isAgainst = (warning, offer) => typeof offer.data?.token === "string" && warning.data?.token === offer.data.token;

/**
 * `elements`: as {@link readElement} gives them. `say(words, more)`: says something for the guest, whose button was pressed. `first`: the
 * number of its first card; `warnings` and `offers`: all of the answer's.
 */
export function partView(type, elements, { say, first, warnings, offers }) {
  if (type === "cards") {
    const events = elements.filter((each) => each.type === "event_card" && each.data !== null);
    return [events.length > 0 && eventList(events, { say, first }), citations(elements.filter((each) => !events.includes(each)))];
  }
  if (type === "warning") return elements.filter((each) => !offers.some((offer) => isAgainst(each, offer))).map(warningView);
  return elements.map((each) => {
    if (each.data === null) return citations([each]);
    if (type === "ticket") return receiptView(each, say);
    const against = warnings.filter((warning) => isAgainst(warning, each));
    return each.type === "approval" ? approvalView(each, say) : quoteView(each, against, say);
  });
}

function warningView({ name, content, data }) {
  return el(
    "section",
    { class: "card constraint", "aria-label": name },
    el("h3", { dir: "auto" }, name),
    el("p", { dir: "auto" }, data === null ? content : String(data.because ?? "")),
    data?.source?.quote && el("p", { class: "small", dir: "auto" }, `You said: “${data.source.quote}”`),
  );
}

/** What an answer cites, and what this page has no card for. */
export function citations(elements) {
  if (elements.length === 0) return null;
  return el(
    "div",
    { class: "citations" },
    elements.map(({ name, content }) =>
      el("details", { class: "citation" }, el("summary", { dir: "auto" }, name), el("p", { dir: "auto" }, content)),
    ),
  );
}
