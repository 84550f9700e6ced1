import { z } from "zod";
import type { Owner } from "../domain/owner.js";
import { chatBody, idempotencyHeader, idParam, invalidRequest, unknownFields } from "../http/http.js";
import { AppError } from "../platform/errors.js";
import type { Chat } from "../ports/application.js";
import { optionOf } from "./variables-of.js";

/**
 * What a caller gives, held to the schemas of the HTTP API: the same limits by the same code. Its fields are in snake case, options
 * are not.
 */

/** Options as they were given: none are as good as null. @throws INVALID_REQUEST for what is no object */
export function optionsOf<T extends object>(options: T | null | undefined): T | Record<string, never> {
  if (options === null || options === undefined) return {};
  if (typeof options === "object" && !Array.isArray(options)) return options;
  throw new AppError("INVALID_REQUEST", { detail: "Options are an object.", hint: "For instance { sessionId }." });
}

/**
 * As {@link optionsOf}, of these names alone. @throws UNKNOWN_FIELD for another, with the nearest name: what is passed over in silence
 * goes to another session or user
 */
export function knownOptions<T extends object>(options: T | null | undefined, names: readonly (keyof T & string)[]): Partial<T> {
  const given: object = optionsOf(options);
  const unknown = Object.keys(given).filter((name) => !names.some((known) => known === name));
  const errors = unknown.map((name) => ({ pointer: `/${name.slice(0, 64)}`, detail: unknownFields([name], names) }));
  if (errors.length > 0) throw new AppError("UNKNOWN_FIELD", { detail: errors.map(({ detail }) => detail).join("; "), errors });
  return given as Partial<T>;
}

/** Options as the fields of a body; what is undefined is left out. */
export function fieldsOf(options: object): Record<string, unknown> {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [fieldOf(name), value]));
}

function fieldOf(option: string): string {
  return option.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** @throws INVALID_REQUEST, INVALID_SESSION_ID, naming each option that is wrong */
export function checked<S extends z.ZodType>(schema: S, options: object): z.output<S> {
  const result = schema.safeParse(fieldsOf(options));
  if (result.success) return result.data;
  const refused = invalidRequest(result.error, "json", "");
  const errors = refused.errors.map(({ pointer, detail }) => ({ pointer: optionPointer(pointer), detail }));
  throw new AppError(refused.code, { detail: errors.map(({ pointer, detail }) => `${pointer || "/"}: ${detail}`).join("; "), errors });
}

/** As {@link checked}, for a schema of a query's, whose values are text. */
export function checkedQuery<S extends z.ZodType>(schema: S, options: object): z.output<S> {
  const entries = Object.entries(options).map(([name, value]: [string, unknown]) => [name, isPlain(value) ? String(value) : value]);
  return checked(schema, Object.fromEntries(entries));
}

function isPlain(value: unknown): boolean {
  return typeof value === "number" || typeof value === "boolean";
}

/** The first name alone is an option's: what stands in metadata is the caller's own. */
function optionPointer(pointer: string): string {
  const [, first = "", ...rest] = pointer.split("/");
  return pointer === "" ? "" : ["", optionOf(first), ...rest].join("/");
}

/** @throws INVALID_SESSION_ID, INVALID_ID */
export function checkedId(id: string, of: "session" | "memory"): string {
  const result = idParam.safeParse({ id });
  if (result.success) return result.data.id;
  throw invalidRequest(result.error, "param", of === "session" ? "/v1/sessions" : "/v1/memories");
}

const keyed = z.object({ idempotency_key: idempotencyHeader.shape["Idempotency-Key"] });

/** 1 to 255 printable ASCII characters. @throws INVALID_REQUEST */
export function checkedKey(idempotencyKey: string | undefined): string | undefined {
  return checked(keyed, { idempotencyKey }).idempotency_key;
}

/** Turns whose request is held to the limits before anything of it is kept. */
export function checkedChat(chat: Chat): Chat {
  return {
    chat: async (request, options) => {
      const { message, sessionId, externalId, pageContext, metadata, channel, editOf, consent, incognito } = request;
      checked(chatBody, { message, sessionId, externalId, pageContext, metadata, channel, editOf, consent, incognito });
      return chat.chat(request, options);
    },
    resume: (request, options) => chat.resume(request, options),
  };
}

/** A user as they were named. */
export interface UserParts {
  readonly owner: Owner;
  /** IANA name, where the caller knows it. */
  readonly timeZone: string | undefined;
}

/** What a user's methods stand on. */
export interface UserNow extends UserParts {
  /** Who they are after merges, which may come at any time: asked anew for each call. */
  readonly now: () => Promise<Owner>;
}
