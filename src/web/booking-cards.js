import { tell } from "./bus.js";
import { button, el, isolated, sayButton } from "./dom.js";
import { dateTile } from "./event-cards.js";
import { calendarButton, cancelView, printButton } from "./ticket-keep.js";
import { isOver } from "./when.js";

/** What is offered, as a summary to confirm or to change; what is booked, as a ticket. */

const MOST_SEATS = 20;
/** What the guest's button says for them, by a quote's status. */
const BOOKING_WORDS = {
  needs_confirmation: ["Confirm", "Yes, book it, please."],
  stopped: ["Book anyway", "Book it anyway, please."],
};

function facts(pairs) {
  const shown = pairs.filter(([, value]) => [value].flat().some((each) => each !== undefined && each !== null && each !== ""));
  return el(
    "dl",
    {},
    shown.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, isolated([value].flat())))),
  );
}

const seatsOf = (data) =>
  data.quantity === undefined
    ? null
    : `${data.quantity} ${data.quantity === 1 ? "seat" : "seats"}${data.section ? `, ${data.section}` : ""}`;
const whenOf = (data) => [data.day, data.time].filter(Boolean).join(", ");
const whereOf = (data) => [data.venue, data.city].filter(Boolean).join(", ");
const companionsOf = (data) => (Array.isArray(data.companions) && data.companions.length ? data.companions.join(", ") : null);

/** `conflicts`: what stands against it. */
export function quoteView({ name, data }, conflicts, say) {
  const stopped = data.status === "stopped";
  return el(
    "section",
    { class: stopped ? "card quote stopped" : "card quote", "aria-label": `Your booking: ${name}` },
    el("p", { class: "eyebrow" }, stopped ? "Not booked" : "Ready to book"),
    el("h3", { dir: "auto" }, String(data.title ?? name)),
    facts([
      ["When", whenOf(data)],
      ["Where", whereOf(data)],
      ["Seats", [seatsOf(data), data.price_each && `${data.price_each} each`]],
      ["With", companionsOf(data)],
      ["Total", data.total],
    ]),
    conflicts.map(({ name: memory, data: conflict }) =>
      el(
        "p",
        { class: "against" },
        el("b", { dir: "auto" }, `✗ ${memory}. `),
        conflict.because && el("span", { dir: "auto" }, String(conflict.because)),
        conflict.source?.quote && el("span", { class: "small said", dir: "auto" }, `You said: “${conflict.source.quote}”`),
      ),
    ),
    offerView(name, data, say),
  );
}

/** The buttons of a quote: each is the guest's own word to just that. They go when something else is said. */
function offerView(name, data, say) {
  const { status, token } = data;
  if (typeof token !== "string" || !Object.hasOwn(BOOKING_WORDS, status)) return null;
  const [label, words] = BOOKING_WORDS[status];
  const look = { class: status === "stopped" ? "secondary" : "primary", "aria-label": `${label}: ${name}` };
  const confirm = sayButton(label, () => say(words, { consent: token }), look);
  const changing = changeView(data, say);
  const change = button(
    "Change",
    () => {
      changing.hidden = !changing.hidden;
      change.setAttribute("aria-expanded", String(!changing.hidden));
      if (!changing.hidden) changing.querySelector("button:not(:disabled)").focus();
    },
    { class: "secondary plain-edge", "aria-expanded": "false", "aria-label": `Change: ${name}` },
  );
  return el("div", { class: "offer" }, el("div", { class: "row" }, confirm, change), changing);
}

function changeView({ quantity }, say) {
  let seats = Number.isInteger(quantity) ? quantity : 1;
  const count = el("output", { "aria-live": "polite" }, String(seats));
  const step = (by) => {
    seats = Math.min(MOST_SEATS, Math.max(1, seats + by));
    count.textContent = String(seats);
    update.disabled = seats === quantity;
  };
  const update = sayButton("Update", () => say(`Make it ${seats} ${seats === 1 ? "seat" : "seats"}, please.`), {
    class: "secondary",
    disabled: true,
  });
  return el(
    "div",
    { class: "change", hidden: true },
    el(
      "div",
      { class: "row" },
      el("span", {}, "Seats"),
      button("−", () => step(-1), { class: "icon step", "aria-label": "One seat fewer" }),
      count,
      button("+", () => step(1), { class: "icon step", "aria-label": "One seat more" }),
      update,
    ),
    button("Another place, day or event …", () => tell("say", { text: "I'd rather have " })),
  );
}

/** A ticket; struck where it is cancelled. */
export function receiptView({ name, data }, say) {
  const title = String(data.title ?? name);
  const cancelled = data.status === "cancelled";
  const node = el(
    "section",
    { class: "card ticket", "aria-label": `Ticket: ${title}`, "data-booking": data.booking_id },
    el(
      "div",
      { class: "ticket-stub" },
      dateTile(data.date, data.day),
      data.time && el("p", { class: "ticket-time" }, el("span", { class: "sr" }, `${data.day ?? ""} at `), String(data.time)),
    ),
    el(
      "div",
      { class: "ticket-text" },
      el("p", { class: "eyebrow" }, cancelled ? "Cancelled" : "Booked"),
      el("h3", { dir: "auto" }, title),
      el("p", {}, isolated([whereOf(data)])),
      el("p", {}, isolated([seatsOf(data), companionsOf(data) && `with ${companionsOf(data)}`])),
      el(
        "p",
        { class: "ticket-foot" },
        data.total_eur !== undefined && el("b", { dir: "ltr" }, `€${data.total_eur}`),
        el("code", { "aria-label": "Reference", dir: "ltr" }, String(data.reference ?? name)),
      ),
      el(
        "div",
        { class: "ticket-keep" },
        !cancelled &&
          el("div", { class: "row" }, calendarButton({ ...data, title, where: whereOf(data), seats: seatsOf(data) }), printButton(title)),
        !cancelled && !isOver(data.date) && data.reference && cancelView({ ...data, title }, say),
      ),
    ),
  );
  if (cancelled) node.classList.add("cancelled");
  return node;
}

/** A booking that was cancelled later is struck wherever it is shown. */
export function strikeCancelled(log) {
  const gone = new Set([...log.querySelectorAll(".ticket.cancelled")].map((node) => node.dataset.booking));
  for (const node of log.querySelectorAll(".ticket:not(.cancelled)")) {
    if (!gone.has(node.dataset.booking)) continue;
    node.classList.add("cancelled");
    node.querySelector(".eyebrow").textContent = "Cancelled";
    node.querySelector(".ticket-keep")?.remove();
  }
}
