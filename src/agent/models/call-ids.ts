import { createHash, randomUUID } from "node:crypto";
import type { ProviderState } from "../../domain/session.js";
import type { ModelToolCall } from "../../ports/chat-model.js";
import type { Capabilities } from "./capabilities.js";

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const NINE = /^[A-Za-z0-9]{9}$/;
/** What every endpoint but Mistral's takes: OpenAI's limit is 40 characters. */
const SHORT = /^[\x21-\x7e]{1,40}$/;

/** Calls with ids of their own that fit everybody's limits, and by them the ids that the endpoint gave instead, to be sent back to it. */
export function givenIds(calls: readonly ModelToolCall[]): { given: ModelToolCall[]; ids: Record<string, string> } {
  const ids: Record<string, string> = {};
  const taken = new Set<string>();
  const given = calls.map((call) => {
    let id = call.id === "" || SHORT.test(call.id) ? call.id : `call_${nine(call.id)}`;
    if (id !== call.id) ids[id] = call.id;
    // Some endpoints give none, others the same one to all.
    if (id === "" || taken.has(id)) id = `call_${nine(randomUUID())}`;
    taken.add(id);
    return { ...call, id };
  });
  return { given, ids };
}

/** The id as the endpoint takes it. The same id gives the same one each time, so that a call and its result agree. */
export function sentId(id: string, known: Pick<Capabilities, "ids">, own: Readonly<Record<string, string>>): string {
  if (known.ids === "own" && own[id] !== undefined) return own[id];
  if (known.ids === "nine") return NINE.test(id) ? id : nine(id);
  return SHORT.test(id) ? id : nine(id);
}

/** What an adapter kept with a call, if it was this adapter, for this endpoint and model. */
export function ownState(provider: ProviderState | undefined, by: string): { state: unknown; ids: Readonly<Record<string, string>> } {
  if (provider?.by !== by || typeof provider.data !== "object" || provider.data === null || Array.isArray(provider.data))
    return { state: null, ids: {} };
  const { state = null, ids = {} } = provider.data;
  return { state, ids: ids as Record<string, string> };
}

/** Nine of 62 characters: one in 10^16 that two ids of a conversation meet. */
function nine(id: string): string {
  const bytes = createHash("sha256").update(id).digest();
  return Array.from(bytes.subarray(0, 9), (byte) => LETTERS[byte % LETTERS.length]).join("");
}
