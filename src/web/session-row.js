import { button, el, when } from "./dom.js";

/** One conversation in the list: to open, and with what can be done about it behind a button. */

/** What stands below the titles, by id: the time, and what tells apart those of the same title. */
export function linesOf(sessions) {
  const lines = new Map();
  for (const session of sessions) {
    const twins = sessions.filter((each) => titleOf(each) === titleOf(session));
    const told = (each) => [when(each.updated_at), twins.length > 1 && (each.topic || `${each.message_count} messages`)];
    const line = told(session).filter(Boolean).join(" · ");
    const same = twins.filter((each) => told(each).filter(Boolean).join(" · ") === line);
    // The first one said is the first.
    lines.set(session.id, same.length > 1 ? `${line} (${same.length - same.indexOf(session)})` : line);
  }
  return lines;
}

export function titleOf(session) {
  return session.title ?? "New conversation";
}

const isTemporary = (session) => session.metadata?.incognito === true;

/**
 * `on`: `open`, `expand`, `rename`, `archive`, `activate`, `remove`. `expanded`: what can be done is shown.
 * `line`: stands below the title. `piece`: of what was said in it, that fits a search. `pending`: what is being done with it just now, in
 * words; nothing else can be done meanwhile.
 */
export function sessionRow(session, { current, expanded, line, piece, pending, on }) {
  const title = titleOf(session);
  const open = el(
    "button",
    { type: "button", class: "open", "aria-current": current ? "true" : undefined, onclick: on.open },
    el("span", { class: "session-title", dir: "auto", title }, title),
    piece && el("span", { class: "small piece", dir: "auto" }, piece[0], el("mark", {}, piece[1]), piece[2]),
    pending
      ? el("span", { class: "small pending", role: "status" }, pending)
      : el(
          "span",
          { class: "small" },
          el("time", { datetime: session.updated_at }, line),
          session.status === "archived" && " · archived",
          isTemporary(session) && " · temporary",
        ),
  );
  const options = button("⋯", on.expand, { class: "icon options", "aria-label": `Options for ${title}`, disabled: Boolean(pending) });
  options.setAttribute("aria-expanded", String(expanded));
  const row = el("li", { class: current ? "current" : "" }, el("div", { class: "session-line" }, open, options));
  row.dataset.session = session.id;
  if (pending) row.setAttribute("aria-busy", "true");
  if (expanded && !pending) row.append(actionsOf(session, title, on));
  return row;
}

function actionsOf(session, title, on) {
  const archived = session.status === "archived";
  return el(
    "div",
    { class: "row actions" },
    button("Rename", on.rename, { "aria-label": `Rename ${title}` }),
    archived
      ? button("Bring back", on.activate, { "aria-label": `Bring back ${title}` })
      : button("Archive", on.archive, { "aria-label": `Archive ${title}` }),
    button("Delete", on.remove, { class: "quiet dangerous", "aria-label": `Delete ${title}` }),
  );
}

/** One in the bin. `on`: `restore`, `purge`. */
export function binRow(session, on) {
  const title = titleOf(session);
  const gone = session.expires_at ? ` · gone for good ${when(session.expires_at)}` : "";
  const row = el(
    "li",
    { class: "in-bin" },
    el("span", { class: "session-title" }, title),
    el("span", { class: "small" }, `Deleted ${when(session.status_since)}${gone}`),
    el(
      "div",
      { class: "row actions" },
      button("Restore", on.restore, { "aria-label": `Restore ${title}` }),
      button("Delete for good", on.purge, { class: "quiet dangerous", "aria-label": `Delete ${title} for good` }),
    ),
  );
  row.dataset.session = session.id;
  return row;
}

/** The title as a field, in its place. `onDone(title)`: null where it stays. */
export function renameForm(session, onDone) {
  const field = el("input", { type: "text", maxlength: "200", value: titleOf(session), "aria-label": "Title" });
  const form = el("form", { class: "rename" }, field, el("button", { type: "submit", class: "secondary" }, "Save"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const title = field.value.trim();
    onDone(title && title !== session.title ? title : null);
  });
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    onDone(null);
  });
  return { form, field };
}
