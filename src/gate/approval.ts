import { createHash } from "node:crypto";
import type { Element, JsonValue } from "../domain/session.js";
import { canonicalJson } from "../platform/canonical-json.js";

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
