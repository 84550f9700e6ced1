import { approvalView } from "./approval-card.js";
import { quoteView, receiptView } from "./booking-cards.js";
import { el } from "./dom.js";
import { eventList } from "./event-cards.js";

/** An answer's elements as cards: events in one column, then what is offered or booked, then what the answer cites. */

/** The newest of each: two tools may show the same event, and a booking changes. */
function onceEach(elements) {
  return [...new Map(elements.map((element) => [element.id, element])).values()];
}

/** With its content as an object; null where that is text. */
export function readElements(elements) {
  return onceEach(elements).map((element) => {
    let data = null;
    try {
      data = JSON.parse(element.content);
    } catch {
      // Text, not JSON.
    }
    return { ...element, data: data !== null && typeof data === "object" && !Array.isArray(data) ? data : null };
  });
}

/**
 * `elements`: as {@link readElements} gives them. `say(words, more)`: says something for the guest, whose button was pressed. `notes`: what
 * the answer says of an event beyond its card, by title.
 */
export function cardViews(elements, { say, notes }) {
  const of = (type) => elements.filter((element) => element.type === type && element.data !== null);
  const shown = new Set(["event_card", "booking_quote", "booking_receipt", "constraint", "approval"]);
  const events = of("event_card");
  const conflicts = of("constraint");
  const views = [
    events.length > 0 && eventList(events, { say, notes }),
    ...of("booking_quote").map((quote) => quoteView(quote, conflicts, say)),
    ...of("approval").map((shown) => approvalView(shown, say)),
    ...of("booking_receipt").map((receipt) => receiptView(receipt, say)),
    ...(of("booking_quote").length === 0 ? conflicts.map(conflictView) : []),
    citations(elements.filter((element) => !shown.has(element.type) || element.data === null)),
  ];
  return views.filter(Boolean);
}

function conflictView({ name, data }) {
  return el(
    "section",
    { class: "card constraint", "aria-label": name },
    el("h3", { dir: "auto" }, name),
    data.because && el("p", {}, String(data.because)),
    data.source?.quote && el("p", { class: "small", dir: "auto" }, `You said: “${data.source.quote}”`),
  );
}

function citations(elements) {
  if (elements.length === 0) return null;
  return el(
    "div",
    { class: "citations" },
    elements.map(({ name, content }) =>
      el("details", { class: "citation" }, el("summary", { dir: "auto" }, name), el("p", { dir: "auto" }, content)),
    ),
  );
}
