import { el, sayButton } from "./dom.js";

/** What an answer showed before it is done, in any domain: one line, what stands against it, and the button that is the guest's word. */

export function approvalView({ data }, say) {
  const conflicts = (Array.isArray(data.conflicts) ? data.conflicts : []).map(String);
  const stopped = conflicts.length > 0;
  const [label, words] = stopped ? ["Do it anyway", "Do it anyway, please."] : ["Confirm", "Yes, please."];
  const question = String(data.question ?? data.tool ?? "");
  const look = { class: stopped ? "secondary" : "primary", "aria-label": `${label}: ${question}` };
  return el(
    "section",
    { class: stopped ? "card quote stopped" : "card quote", "aria-label": question },
    el("p", { class: "eyebrow" }, stopped ? "Not done" : "Ready to do"),
    el("h3", { dir: "auto" }, question),
    conflicts.map((line) => el("p", { class: "against", dir: "auto" }, `✗ ${line}`)),
    typeof data.token === "string" &&
      el(
        "div",
        { class: "offer" },
        el(
          "div",
          { class: "row" },
          sayButton(label, () => say(words, { consent: data.token }), look),
        ),
      ),
  );
}
