import { button, el, isolated, sayButton } from "./dom.js";
import { isOver, tileOf } from "./when.js";

/** What was found, in one column: when, what, where, how it suits, what it costs, and a button to book it. */

const AT_ONCE = 5;
/** Where nobody said how many. */
const USUAL_SEATS = 2;

/** `first`: the number of the first of them in its answer. */
export function eventList(events, { say, first }) {
  const views = events.map((event, index) => eventView(event, first + index, say));
  const list = el("ol", { class: "results" }, views.slice(0, AT_ONCE));
  const rest = views.slice(AT_ONCE);
  if (rest.length === 0) return list;
  const more = button(
    `Show ${rest.length} more`,
    () => {
      list.append(...rest);
      more.remove();
      rest[0].tabIndex = -1;
      rest[0].focus();
    },
    { class: "secondary more" },
  );
  return el("div", {}, list, more);
}

export function dateTile(day, fallback = "") {
  const tile = tileOf(day);
  if (tile === null) return el("div", { class: "tile", "aria-hidden": "true" }, el("span", {}, fallback));
  return el(
    "div",
    { class: "tile", "aria-hidden": "true" },
    el("span", {}, tile.weekday),
    el("b", {}, tile.day),
    el("span", {}, tile.month),
  );
}

function eventView({ name, data }, number, say) {
  const title = String(data.title ?? name);
  const where = [data.venue, data.city].filter(Boolean).join(", ");
  return el(
    "li",
    { class: "card event", "aria-label": title },
    dateTile(data.date, data.day),
    el(
      "div",
      { class: "event-text" },
      el("h3", {}, el("span", { class: "number" }, `${number} `), el("bdi", {}, title)),
      el("p", { class: "event-where" }, el("span", { class: "sr" }, data.day ? `${data.day}, ` : ""), isolated([data.time, where])),
      data.artist && !title.includes(data.artist) && el("p", { class: "small", dir: "auto" }, String(data.artist)),
      fitView(data),
    ),
    el(
      "div",
      { class: "event-side" },
      data.from_price_eur !== undefined && el("p", { class: "price" }, el("bdi", {}, `from €${data.from_price_eur}`)),
      bookButton(title, data, say),
    ),
  );
}

/** Each mark belongs to a memory; what stands against an event is said first, in clear sight. */
function fitView(data) {
  const given = Array.isArray(data.fit) ? data.fit.filter((mark) => typeof mark?.label === "string") : [];
  const marks = given.toSorted((a, b) => Number(a.met === true) - Number(b.met === true));
  const named = marks.some(({ label }) => label.includes("step-free"));
  const access = data.step_free === undefined || named ? null : data.step_free ? "step-free" : "not step-free";
  const menus = Array.isArray(data.menus) && data.menus.length > 0 ? `menus: ${data.menus.join(", ")}` : null;
  const plain = [access, menus].filter(Boolean);
  if (marks.length + plain.length === 0) return null;
  return el(
    "p",
    { class: "fit" },
    marks.map(({ memory_id: memory, label, met }) => {
      const [sign, kind] = met === true ? ["✓", "met"] : met === false ? ["✗", "broken"] : ["?", "unsure"];
      const mark = button(`${sign} ${label}`, () => showReason(mark, memory), {
        class: `mark-of ${kind}`,
        title: "Why? Because you told me.",
      });
      return mark;
    }),
    plain.map((label) => el("span", { class: "plain" }, label)),
  );
}

/** Opens the pill of the memory that a mark is tied to. */
function showReason(mark, memory) {
  const turn = mark.closest(".turn");
  turn.querySelector(".because .more")?.click();
  const pill = [...turn.querySelectorAll(".pill")].find((each) => each.dataset.memory === String(memory));
  if (!pill) return;
  if (pill.getAttribute("aria-expanded") !== "true") pill.click();
  pill.focus();
}

function bookButton(title, data, say) {
  if (typeof data.event_id !== "string" || isOver(data.date)) return null;
  const seats = Number.isInteger(data.seats) && data.seats > 0 ? data.seats : USUAL_SEATS;
  const on = [data.day, data.time].filter(Boolean).join(" at ");
  const words = `Book ${seats} ${seats === 1 ? "seat" : "seats"} for ${title}${on ? ` on ${on}` : ""}, please.`;
  return sayButton(`Book ${seats}`, () => say(words, { page_context: { event_id: data.event_id, title, date: data.date ?? null } }), {
    class: "secondary book",
    "aria-label": `Book ${seats}: ${title}`,
  });
}
