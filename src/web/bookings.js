import { tell } from "./bus.js";
import { button, el, isolated, toast } from "./dom.js";
import { wordsFor } from "./problems.js";
import { sessionApi } from "./session-api.js";
import { calendarButton, cancelView } from "./ticket-keep.js";
import { show } from "./users.js";

/** The guest's bookings, those to come first. */

function money(cents) {
  return (cents / 100).toLocaleString([], { style: "currency", currency: "EUR" });
}

/** Day and time as the clocks there show them, where the record says so; else as this device has them. */
function whenOf({ starts_at, date, time }) {
  const there = typeof date === "string" && typeof time === "string";
  const start = new Date(there ? `${date}T00:00:00Z` : starts_at);
  const options = { weekday: "short", day: "numeric", month: "short", year: "numeric", ...(there && { timeZone: "UTC" }) };
  return `${start.toLocaleDateString([], options)}, ${there ? time : start.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })}`;
}

/** Opens where it was booked: at the first answer that names its reference. */
async function openConversation(reference, close) {
  const said = await sessionApi.said(reference).catch(() => []);
  const [first] = said.filter(({ role, content }) => role === "assistant" && content.includes(reference)).sort(byTime);
  if (!first) return toast("The conversation in which this was booked is not there any more.");
  close();
  tell("open", { id: first.session_id, message: first.id });
}

const byTime = (a, b) => Date.parse(a.created_at) - Date.parse(b.created_at);

/** What can be done with it; `close`: the dialog goes, and the conversation is there. */
function keepView(booking, close) {
  const { title, venue, city, section, quantity, reference, id } = booking;
  const where = [venue, city].filter(Boolean).join(", ");
  const speak = (text) => {
    close();
    tell("speak", { text });
  };
  return el(
    "div",
    { class: "ticket-keep" },
    el(
      "div",
      { class: "row" },
      calendarButton({ ...booking, booking_id: id, where, seats: `${quantity} × ${section}`, title }),
      reference && button("Open its conversation", () => void openConversation(reference, close)),
    ),
    reference && cancelView({ reference, title }, speak),
  );
}

function bookingView(booking, close) {
  const { title, venue, city, section, quantity, total_cents, companions, status, reference } = booking;
  const isKept = status !== "cancelled" && Date.parse(booking.starts_at) >= Date.now();
  const company = companions.length > 0 && `with ${companions.join(", ")}`;
  return el(
    "li",
    { class: status === "cancelled" ? "booking cancelled" : "booking" },
    el("strong", { dir: "auto" }, title),
    el("span", { class: "small" }, isolated([whenOf(booking), [venue, city].filter(Boolean).join(", ")])),
    el("span", {}, isolated([`${quantity} × ${section}`, money(total_cents), company])),
    el("span", { class: "small" }, status === "cancelled" ? "Cancelled" : `Booked${reference ? `, reference ${reference}` : ""}`),
    isKept && keepView(booking, close),
  );
}

/** A record of another product's: its text, as far as it has any. */
function recordView(record) {
  return el("li", { class: "booking" }, el("strong", {}, String(record.title ?? record.name ?? record.reference ?? "Booking")));
}

const isBooking = (record) => typeof record?.starts_at === "string" && typeof record.total_cents === "number";

export async function openBookings() {
  const dialog = el("dialog", { "aria-label": "My bookings" });
  const list = el("div", { class: "bookings", role: "status" }, el("p", { class: "small" }, "One moment …"));
  show(
    dialog,
    el(
      "div",
      { class: "stack" },
      el("h2", {}, "My bookings"),
      list,
      el(
        "div",
        { class: "row end" },
        button("Close", () => dialog.close(), { class: "primary" }),
      ),
    ),
  );
  try {
    const records = await sessionApi.bookings();
    const now = Date.now();
    const coming = records.filter((each) => !isBooking(each) || Date.parse(each.starts_at) >= now);
    const over = records.filter((each) => isBooking(each) && Date.parse(each.starts_at) < now).reverse();
    list.replaceChildren(
      ...(records.length === 0 ? [el("p", { class: "empty" }, "You have booked nothing yet.")] : []),
      ...[
        ["To come", coming],
        ["Over", over],
      ]
        .filter(([, shown]) => shown.length > 0)
        .map(([name, shown]) =>
          el(
            "section",
            {},
            el("h3", {}, name),
            el(
              "ul",
              { class: "plain" },
              shown.map((each) => (isBooking(each) ? bookingView(each, () => dialog.close()) : recordView(each))),
            ),
          ),
        ),
    );
  } catch (error) {
    list.replaceChildren(el("p", { class: "warn" }, wordsFor(error).title));
  }
}
