import type { JsonObject, JsonValue } from "../domain/session.js";
import { type LoggedItem, type LogItem, toJsonObject } from "../sessions/log-items.js";

interface AdkPart {
  readonly text?: string;
  readonly thought?: boolean;
  readonly functionCall?: unknown;
}

/** The parts of ADK's session and event that are looked at; everything else of an event is kept as it is. */
export interface AdkEvent {
  readonly id?: string;
  readonly author?: string;
  readonly timestamp: number;
  readonly partial?: boolean;
  readonly content?: { readonly role?: string; readonly parts?: readonly AdkPart[] };
  readonly actions?: { readonly stateDelta?: Record<string, unknown> };
}
export interface AdkSession {
  readonly id: string;
  readonly appName: string;
  readonly userId: string;
  state: Record<string, unknown>;
  events: AdkEvent[];
  lastUpdateTime: number;
}

/** State without `temp:` keys. */
export type WithoutTemporary = JsonObject;

const SHARED = /^(?:app|user):/u;

/** State split by who shares it; `temp:` keys are left out of both. */
export function withoutTemporary(state: Record<string, unknown>): { readonly shared: WithoutTemporary; readonly own: WithoutTemporary } {
  const entries = Object.entries(toJsonObject(state)).filter(([name]) => !name.startsWith("temp:"));
  return {
    shared: Object.fromEntries(entries.filter(([name]) => SHARED.test(name))),
    own: Object.fromEntries(entries.filter(([name]) => !SHARED.test(name))),
  };
}

/** Later deltas win; a key that was set to null stays, as ADK has it. `__proto__` becomes a key like any other. */
export function mergedState(deltas: readonly JsonValue[]): WithoutTemporary {
  return Object.fromEntries(deltas.flatMap((delta) => (typeof delta === "object" && delta !== null ? Object.entries(delta) : [])));
}

export function logItemOf(event: AdkEvent): LogItem {
  // A function's response has the user's role, too.
  const user = event.author === undefined || event.author === "" ? event.content?.role === "user" : event.author === "user";
  const parts = event.content?.parts ?? [];
  const text = parts
    .flatMap((part) => (typeof part.text === "string" && part.thought !== true ? [part.text] : []))
    .join("\n")
    .trim();
  return {
    ...(event.id === undefined || event.id === "" ? {} : { id: event.id }),
    role: user ? "user" : "assistant",
    ...(parts.some(({ functionCall }) => functionCall !== undefined) && { interim: true }),
    text,
    ...(event.author === undefined || event.author === "" ? {} : { name: event.author }),
    at: new Date(event.timestamp).toISOString(),
    item: toJsonObject(event),
  };
}

/** What came into the session by another way than ADK, as an event. */
export function saidWithoutAdk({ id, at, role, text }: LoggedItem): AdkEvent {
  const content = { role: role === "user" ? "user" : "model", parts: textParts(text) };
  return { id, author: role, timestamp: Date.parse(at), content };
}

export function textParts(text: string): { readonly text: string }[] {
  return [{ text }];
}
