import { el, toast } from "./dom.js";
import { memoryApi } from "./memory-api.js";
import { memoryFields } from "./panel-edit.js";

/** The form by which the guest tells something to remember. `names()`: who is known; `onAdded(memory)`: it is stored. */
export function addForm({ names, onAdded }) {
  const place = el("form", { class: "memory-edit" });
  let current = null;
  const renew = () => {
    current = memoryFields({}, names());
    current.fields.text.id = "memory-text";
    current.fields.hard.id = "memory-hard";
    current.fields.text.placeholder = "Prefers a table by the window";
    place.replaceChildren(
      el("h3", {}, "Tell me something to remember"),
      ...current.node,
      el("div", { class: "row end" }, el("button", { type: "submit", class: "secondary" }, "Remember")),
    );
  };
  place.addEventListener("submit", async (event) => {
    event.preventDefault();
    const { text, strength, subject, until } = current.read();
    const send = place.querySelector('[type="submit"]');
    if (!text || send.disabled) return;
    send.disabled = true;
    try {
      const memory = await memoryApi.add({
        text,
        // Left out, it is what its kind usually is.
        ...(strength === "hard" ? { strength } : {}),
        ...(subject === "self" ? {} : { subject }),
        ...(until ? { valid_until: until, scope: "trip" } : {}),
      });
      renew();
      onAdded(memory);
    } catch (error) {
      send.disabled = false;
      toast(error.hint ? `${error.message} ${error.hint}` : error.message, { error: true });
    }
  });
  renew();
  return place;
}
