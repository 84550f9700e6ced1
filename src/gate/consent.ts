import { createHash } from "node:crypto";
import type { Element, JsonValue } from "../domain/session.js";
import { canonicalJson } from "../platform/json.js";

/**
 * Consent is words of the guest's own message, which the model names, to what an earlier answer showed. What the words mean is the model's
 * to judge; the code holds where they stand and how long ago they were asked for.
 */

/** What was shown, or asked, more turns ago is shown again first. */
export const ANSWERABLE_TURNS = 3;

/** Whether a quote stands in a message, word for word: compared without case, punctuation and white space. An empty one doesn't. */
export function standsIn(quote: string | undefined, message: string): boolean {
  const words = folded(quote ?? "");
  return words !== "" && ` ${folded(message)} `.includes(` ${words} `);
}

function folded(text: string): string {
  return (
    text
      .normalize("NFKC")
      .toLowerCase()
      .replace(/['\u2018\u2019\u02BC]/g, "")
      .match(/[\p{L}\p{M}\p{N}]+/gu)
      ?.join(" ") ?? ""
  );
}

/** What a button approves, and stands for in what is kept: the same values have the same hash. 32 characters. */
export function hashOf(...what: readonly unknown[]): string {
  return createHash("sha256").update(canonicalJson(what)).digest("hex").slice(0, 32);
}

/** A call that waits for the user's button. `question`: what they are asked; `conflicts`: what stands against it. */
export function approvalElement(
  token: string,
  call: { readonly tool: string; readonly question: string; readonly input: JsonValue; readonly conflicts?: readonly string[] },
): Element {
  const content = JSON.stringify({ token, ...call });
  return { id: `approval:${token}`, type: "approval", name: call.tool, content, display: "inline" };
}
