import { button, el, sayButton, toast } from "./dom.js";
import { save } from "./save.js";

/** What can be done with a booking: put it into a calendar, print it, cancel it. */

/** `booking`: as `calendarFile` takes it. Null where it does not say when it begins. */
export function calendarButton(booking) {
  if (Number.isNaN(Date.parse(booking.starts_at))) return null;
  return button("Add to calendar", () => void saveCalendarFile(booking), { "aria-label": `Add to calendar: ${booking.title}` });
}

async function saveCalendarFile(booking) {
  const { calendarFile } = await import("./calendar-file.js").catch(() => ({}));
  const file = calendarFile?.(booking);
  if (!file) return toast("I can't make that file just now. Load the page again, please.", { error: true });
  save(new Blob([file], { type: "text/calendar" }), `${String(booking.reference ?? "booking").replace(/[^\w-]/g, "")}.ics`);
}

/** Prints the ticket alone. */
export function printButton(title) {
  const print = button(
    "Print",
    () => {
      const marks = [document.documentElement, print.closest(".ticket")];
      for (const node of marks) node.classList.add("printed-alone");
      addEventListener("afterprint", () => marks.forEach((node) => void node.classList.remove("printed-alone")), { once: true });
      window.print();
    },
    { "aria-label": `Print: ${title}` },
  );
  return print;
}

/** Asks before it cancels. */
export function cancelView({ reference, title }, say) {
  const sure = el(
    "div",
    { class: "row", hidden: true },
    el("span", {}, "Cancel this booking?"),
    sayButton("Yes, cancel it", () => say(`Please cancel my booking ${reference}.`), { class: "secondary dangerous" }),
    button("Keep it", () => {
      sure.hidden = true;
      cancel.hidden = false;
      cancel.focus();
    }),
  );
  const cancel = button(
    "Cancel booking",
    () => {
      sure.hidden = false;
      cancel.hidden = true;
      sure.querySelector("button:last-of-type").focus();
    },
    { title: `Cancel booking: ${title}` },
  );
  return el("div", { class: "cancel" }, cancel, sure);
}
