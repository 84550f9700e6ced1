import type { Owner } from "../domain/owner.js";
import { invalidField } from "../platform/errors.js";
import type { Logger } from "../platform/logger.js";
import type { ConversationLog } from "../sessions/conversation-log.js";

/** What the adapters of frameworks need of a user beside their handle. */
export interface HandleParts {
  /** Who they are after merges. @throws SHUTTING_DOWN once all is closed */
  owner(): Promise<Owner>;
  /** @throws SHUTTING_DOWN once all is closed */
  asked(): void;
  readonly log: ConversationLog;
  readonly logger: Logger;
}

const HANDLE_PARTS = Symbol("handle parts");

/** Makes an object a handle that adapters take. */
export function withHandleParts(user: object, parts: HandleParts): void {
  Object.defineProperty(user, HANDLE_PARTS, { value: parts });
}

/** @throws INVALID_REQUEST for what is no user's handle */
export function handlePartsOf(user: unknown): HandleParts {
  const parts = partsOf<HandleParts>(user, HANDLE_PARTS);
  if (parts !== undefined) return parts;
  const detail = user === undefined ? "no user is given" : "not the handle of a user";
  throw invalidField("/user", detail, 'Give what `maitred.for` gave: { user: maitred.for({ user: "ada" }) }.');
}

/** What an object of ours holds that is not to be seen in a dump of it. */
export function partsOf<Parts>(object: unknown, key: symbol): Parts | undefined {
  return typeof object === "object" && object !== null ? (object as { readonly [key]?: Parts })[key] : undefined;
}
