import type { JsonValue } from "../domain/session.js";
import { handlePartsOf, type MaitredUser, noSession, OF_A_SESSION, type SessionName, sessionNamed } from "../library/library.js";
import { invalidField } from "../platform/errors.js";
import type { Logger } from "../platform/logger.js";
import type { ContextPart } from "../ports/own-agent.js";
import type { ConversationLog } from "../sessions/conversation-log.js";
import type { LoggedItem, LogKey } from "../sessions/log-items.js";

/** Whose conversation it is, and which: `{ user: maitred.for({ user: "ada" }), thread: "t1" }`. */
export interface OfThread extends SessionName {
  /** The user's handle: from your server's own knowledge of who that is, never from a request or a model. */
  readonly user: MaitredUser;
}

export const OF_A_THREAD = { user: true, ...OF_A_SESSION } as const satisfies Record<keyof OfThread, true>;

/** What is told where the framework's own window tells the conversation. */
export const BESIDE_THE_MESSAGES: readonly ContextPart[] = ["constraints", "profile", "memories"];

/** A user's conversation in a framework's form. */
export interface Conversation {
  readonly user: MaitredUser;
  /** As the framework named it. */
  readonly name: SessionName;
  readonly log: ConversationLog;
  readonly logger: Logger;
  /** Asked anew for each call: users are merged at any time. */
  key(): Promise<LogKey>;
  /** What is known of the user that the framework's own window doesn't have. Empty where nothing is. */
  known(maxTokens?: number): Promise<string>;
}

/**
 * The conversation that options name. `channel`: whose form its items have.
 * @throws INVALID_REQUEST where user or thread is missing or can be none, INVALID_SESSION_ID, SHUTTING_DOWN
 */
export function conversationOf({ user, thread, sessionId }: Partial<OfThread>, channel: string): Conversation {
  const parts = handlePartsOf(user);
  parts.asked();
  const session = sessionNamed({ thread, sessionId });
  if (session === null) throw noSession();
  const name = "sessionId" in session ? session : { thread: session.externalId };
  const handle = user as MaitredUser;
  return {
    user: handle,
    name,
    log: parts.log,
    logger: parts.logger,
    key: async () => ({ owner: await parts.owner(), channel, session }),
    known: async (maxTokens) => {
      const options = { ...name, include: BESIDE_THE_MESSAGES, ...(maxTokens !== undefined && { maxTokens }) };
      return (await handle.context(undefined, options)).text;
    },
  };
}

/** A framework's items as it gave them; what came into the session by another way is made into one, and left out where nothing was said. */
export function itemsIn<Item>(logged: readonly LoggedItem[], made: (message: LoggedItem) => Item): Item[] {
  return logged.filter(({ item, text }) => item !== null || text !== "").map((message) => (message.item ?? made(message)) as Item);
}

/** The text of a message: a string, or parts of which those of text count. */
export function textOf(content: JsonValue | undefined): string {
  const parts = Array.isArray(content) ? content : [{ text: content ?? "" }];
  return parts
    .flatMap((part) =>
      typeof part === "object" && part !== null && !Array.isArray(part) && typeof part.text === "string" ? [part.text] : [],
    )
    .join("\n");
}

/** @throws INVALID_REQUEST for what is no part of the framework */
export function frameworkPart<Part>(part: Part, name: string, from: string): Part {
  if (typeof part === "function") return part;
  throw invalidField(`/${name}`, `\`${name}\` is missing`, `Hand in what you import from ${from}.`);
}
