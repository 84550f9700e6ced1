import type { GivenMessage } from "../domain/given-messages.js";
import type { Owner } from "../domain/owner.js";
import { type JsonObject, type JsonValue, jsonObject, type Role } from "../domain/session.js";
import { AppError } from "../platform/errors.js";
import { present } from "../platform/present.js";
import type { SessionRef } from "../ports/session-names.js";

/** One item of another framework's conversation: a message, a tool call, an event. */
export interface LogItem {
  /** The message's id in journal and search. Default: a new one. */
  readonly id?: string;
  readonly role: Role;
  /** What was said, for people and for search; empty where nothing was (a tool call). */
  readonly text: string;
  readonly name?: string;
  /** ISO 8601. Default: the present. */
  readonly at?: string;
  /** Of an assistant: the answer is still to come. Default: told by what follows in the same append. */
  readonly interim?: boolean;
  /** Kept, and given back where history finds the message. */
  readonly metadata?: JsonObject;
  /** The item as the framework has it: comes back as it was given. */
  readonly item: JsonValue;
}

export interface LoggedItem {
  readonly id: string;
  readonly at: string;
  readonly role: Role;
  readonly text: string;
  /** As the framework has it; null for what came into the session through another channel. */
  readonly item: JsonValue | null;
}

/** A conversation that another framework runs. */
export interface LogKey {
  readonly owner: Owner;
  /** `langchain`, `openai-agents`, `adk:<app>`: whose form the items have. */
  readonly channel: string;
  readonly session: SessionRef;
}

/** The end of a conversation, and what stands for what was before. */
export interface LogWindow {
  /** Of the session, or null: what has left the window stands in it. */
  readonly summary: string | null;
  readonly items: readonly LoggedItem[];
}

/** Any framework value as JSON: what JSON can't hold is dropped, as JSON.stringify does. @throws INVALID_REQUEST for what is no object */
export function toJsonObject(value: unknown): JsonObject {
  const parsed = jsonObject.safeParse(JSON.parse(JSON.stringify(value) ?? "null"));
  if (!parsed.success) throw new AppError("INVALID_REQUEST", { detail: "The conversation's item is no JSON object." });
  return parsed.data;
}

/** What a user sent without a word begins no turn, and what an assistant did without one ends none. */
export function givenMessage({ role, text, name, at, interim, metadata, item }: LogItem): GivenMessage {
  return {
    role: role === "user" && text === "" ? "system" : role,
    content: text,
    item,
    ...present({ name, created_at: at, metadata }),
    ...((interim === true || (role === "assistant" && text === "")) && { interim: true }),
  };
}
