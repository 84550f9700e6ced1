import { z } from "zod";
import type { Owner } from "../domain/owner.js";
import { chatBody, idempotencyHeader, idParam, invalidRequest } from "../http/http.js";
import { AppError } from "../platform/errors.js";
import type { Chat } from "../ports/application.js";
import type { SessionRef } from "../ports/session-names.js";
import { optionOf } from "./variables-of.js";

/**
 * What a caller gives, held to the schemas of the HTTP API: the same limits by the same code. Its fields are in snake case, options
 * are not.
 */

/** Options as the fields of a body; what is undefined is left out. */
export function fieldsOf(options: object): Record<string, unknown> {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [fieldOf(name), value]));
}

function fieldOf(option: string): string {
  return option.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

type OptionOf<Field extends string> = Field extends `${infer First}_${infer Rest}` ? `${First}${Capitalize<OptionOf<Rest>>}` : Field;

/** Names of the options that are these fields of a body. */
export function optionsIn<Field extends string>(shape: Readonly<Record<Field, unknown>>): Readonly<Record<OptionOf<Field>, true>> {
  return Object.fromEntries(Object.keys(shape).map((field) => [optionOf(field), true])) as Record<OptionOf<Field>, true>;
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

/** @throws INVALID_ID */
export function memoryId(id: string): string {
  const result = idParam.safeParse({ id });
  if (result.success) return result.data.id;
  throw invalidRequest(result.error, "param", "/v1/memories");
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
  /** Who they are after merges, which may come at any time: asked anew for each call. @throws SHUTTING_DOWN once all is closed */
  readonly now: () => Promise<Owner>;
  /** The id of their session of that name, whether or not there is one. */
  readonly idOf: (owner: Owner, session: SessionRef) => Promise<string>;
}

/** Fields of a filter on the session that options name: none of a session that there isn't. */
export async function inSession(user: UserNow, owner: Owner, session: SessionRef | null): Promise<{ readonly sessionId?: string }> {
  return session === null ? {} : { sessionId: await user.idOf(owner, session) };
}
