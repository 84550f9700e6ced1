import { button, el } from "./dom.js";
import { wordsFor } from "./problems.js";
import { sessionApi } from "./session-api.js";
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

function bookingView(booking) {
  const { title, venue, city, section, quantity, total_cents, companions, status, reference } = booking;
  const company = companions.length > 0 && `with ${companions.join(", ")}`;
  return el(
    "li",
    { class: status === "cancelled" ? "booking cancelled" : "booking" },
    el("strong", {}, title),
    el("span", { class: "small" }, `${whenOf(booking)} · ${[venue, city].filter(Boolean).join(", ")}`),
    el("span", {}, [`${quantity} × ${section}`, money(total_cents), company].filter(Boolean).join(" · ")),
    el("span", { class: "small" }, status === "cancelled" ? "Cancelled" : `Booked${reference ? `, reference ${reference}` : ""}`),
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
              shown.map((each) => (isBooking(each) ? bookingView(each) : recordView(each))),
            ),
          ),
        ),
    );
  } catch (error) {
    list.replaceChildren(el("p", { class: "warn" }, wordsFor(error).title));
  }
}
