import type { Step } from "./api-types.js";
import { wordsOf } from "./format.js";
import { Said } from "./ui.js";

/** "How I found this": what was looked up and done for an answer, in words. */

/** In characters. */
const LONGEST = 80;

export function StepView({ of }: { readonly of: Step }) {
  const asked = askedOf(of.input);
  const came = cameOf(of);
  return (
    <li class={came === FAILED ? "step bad" : "step"}>
      <b>{wordsOf(of.name ?? "tool")}</b>
      {asked && <span dir="auto">{asked}</span>}
      {came && <Said class="came" of={came} />}
    </li>
  );
}

const FAILED = "This did not work.";
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === "object" && value !== null;

function shortOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(shortOf).join(", ");
  if (isObject(value)) return "…";
  const text = String(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/** Names of things are for people, ids are not. */
function askedOf(input: unknown): string {
  if (!isObject(input)) return shortOf(input ?? "");
  return Object.entries(input)
    .filter(([name, value]) => !name.endsWith("_id") && value !== null && value !== "")
    .map(([name, value]) => `${wordsOf(name)}: ${shortOf(value)}`)
    .join(" · ");
}

function cameOf({ output, error }: Step): string {
  if (error) return FAILED;
  if (!isObject(output)) return "";
  if (typeof output.error === "string") return FAILED;
  if (typeof output.found === "number") return `${output.found} found`;
  if (typeof output.status === "string") return wordsOf(output.status);
  const list = Object.values(output).find(Array.isArray);
  return list ? `${list.length} found` : String(output.title ?? "");
}
