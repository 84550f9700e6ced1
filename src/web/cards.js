import { button, el } from "./dom.js";

/** An answer's elements as cards. */

const DIET = (menus) => (Array.isArray(menus) && menus.length ? menus.join(", ") : null);

function facts(pairs) {
  const shown = pairs.filter(([, value]) => value !== undefined && value !== null && value !== "");
  return el(
    "dl",
    {},
    shown.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, String(value)))),
  );
}

const CARDS = {
  event_card: (name, data) => [
    el("h3", {}, name),
    data.artist && data.artist !== name && el("p", { class: "small" }, String(data.artist)),
    facts([
      ["When", [data.day, data.time].filter(Boolean).join(", ")],
      ["Where", [data.venue, data.city].filter(Boolean).join(", ")],
      ["From", data.from_price_eur === undefined ? null : `€${data.from_price_eur}`],
      ["Step-free", data.step_free === undefined ? null : data.step_free ? "yes" : "no"],
      ["Menus", DIET(data.menus)],
    ]),
  ],
  booking_quote: (name, data) => [
    el("h3", {}, name),
    facts([
      ["When", [data.day, data.time].filter(Boolean).join(", ")],
      ["Where", [data.venue, data.city].filter(Boolean).join(", ")],
      ["Seats", data.quantity === undefined ? null : [data.quantity, data.section].filter(Boolean).join(" × ")],
      ["With", Array.isArray(data.companions) && data.companions.length ? data.companions.join(", ") : null],
      ["Total", data.total],
    ]),
  ],
  booking_receipt: (name, data) => [
    el("h3", {}, String(data.title ?? name)),
    facts([
      ["Reference", data.reference ?? name],
      ["When", data.day],
      ["Where", [data.venue, data.city].filter(Boolean).join(", ")],
      ["Seats", data.quantity === undefined ? null : [data.quantity, data.section].filter(Boolean).join(" × ")],
      ["Total", data.total_eur === undefined ? null : `€${data.total_eur}`],
      ["Status", data.status],
    ]),
  ],
  constraint: (name, data) => [
    el("h3", {}, name),
    facts([
      ["For", data.who === "self" ? "you" : data.who],
      ["Because", data.because],
      ["You said", data.source?.quote],
    ]),
  ],
};

const CARDS_AT_ONCE = 4;
/** What the guest's button says for them, by a quote's status. */
const BOOKING_WORDS = {
  needs_confirmation: ["Book", "Yes, book it, please."],
  stopped: ["Book anyway", "Book it anyway, please."],
};

/** The newest of each: two tools may show the same event, and a booking changes. */
function onceEach(elements) {
  return [...new Map(elements.map((element) => [element.id, element])).values()];
}

/** The first few, and the rest on demand. `onBook(words, token)`: the button of a quote was pressed. */
export function cardViews(elements, onBook) {
  const views = onceEach(elements).map((element) => elementView(element, onBook));
  if (views.length <= CARDS_AT_ONCE + 1) return views;
  const rest = views.slice(CARDS_AT_ONCE);
  const more = button(`Show ${rest.length} more`, () => more.replaceWith(...rest), { class: "secondary more" });
  return [...views.slice(0, CARDS_AT_ONCE), more];
}

/** A card for what the client knows, the text for all else. */
function elementView(element, onBook) {
  let data = null;
  try {
    data = JSON.parse(element.content);
  } catch {
    // Text, not JSON.
  }
  const card =
    Object.hasOwn(CARDS, element.type) && data !== null && typeof data === "object" ? CARDS[element.type](element.name, data) : null;
  if (card) return el("section", { class: `card ${element.type}`, "aria-label": element.name }, ...card, offerView(element, data, onBook));
  return el("details", { class: "card citation" }, el("summary", {}, element.name), el("p", {}, element.content));
}

/** The button that books what a quote shows, with the guest's consent to just that. */
function offerView({ type, name }, { status, token }, onBook) {
  if (type !== "booking_quote" || typeof token !== "string" || !Object.hasOwn(BOOKING_WORDS, status)) return null;
  const [label, words] = BOOKING_WORDS[status];
  const props = { class: status === "stopped" ? "secondary" : "primary", "aria-label": `${label}: ${name}` };
  return el(
    "div",
    { class: "offer row end" },
    button(label, () => onBook(words, token), props),
  );
}
