import { el } from "./dom.js";

/** "How I found this": what was looked up and done for an answer, in words. */

const LONGEST = 80;

const words = (name) => String(name).replaceAll("_", " ");
const short = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

function shownOf(value) {
  if (Array.isArray(value)) return value.map(shownOf).join(", ");
  return typeof value === "object" && value !== null ? "…" : short(String(value));
}

/** Names of things are for people, ids are not. */
function asked(input) {
  if (typeof input !== "object" || input === null) return input === undefined || input === null || input === "" ? "" : short(String(input));
  return Object.entries(input)
    .filter(([name, value]) => !name.endsWith("_id") && value !== null && value !== "")
    .map(([name, value]) => `${words(name)}: ${shownOf(value)}`)
    .join(" · ");
}

function cameOf({ output, error }) {
  if (error) return "This did not work.";
  if (typeof output !== "object" || output === null) return "";
  if (typeof output.error === "string") return "This did not work.";
  if (typeof output.found === "number") return output.found === 1 ? "1 found" : `${output.found} found`;
  if (typeof output.status === "string") return words(output.status);
  const list = Object.values(output).find(Array.isArray);
  return list ? `${list.length} found` : String(output.title ?? "");
}

/** One step as a line. */
export function stepView(step) {
  const came = cameOf(step);
  const bad = came === "This did not work.";
  return el(
    "li",
    { class: bad ? "step bad" : "step" },
    el("b", {}, words(step.name ?? "tool")),
    asked(step.input) && el("span", { dir: "auto" }, asked(step.input)),
    came && el("span", { class: "came", dir: "auto" }, came),
  );
}
