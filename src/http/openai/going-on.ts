import type { GivenMessage } from "../../domain/given-messages.js";
import type { Owner } from "../../domain/owner.js";
import type { Message } from "../../domain/session.js";
import type { Sessions } from "../../ports/application.js";

/** Which session a conversation goes on with that its client sends whole, without a name for it. */

/** How many of the user's sessions are looked through for those that began with the same words: pages, newest activity first. */
const MAX_PAGES = 5;
const PAGE = 200;
/** Of those so many are compared, by so many of their newest messages. */
const MAX_COMPARED = 20;
const NEWEST_MESSAGES = 40;

/** So many of the newest rounds may have been said elsewhere since. */
const MAX_SINCE = 100;
/** What is known of longer messages: as much as a turn's may have, and an answer. In characters. */
export const MAX_CHARS = { user: 8_000, assistant: 64_000 } as const;

/** A conversation as it was sent, up to its last message of the user's. */
export interface Sent {
  /** What the external ids of sessions begin with that began with the same words. */
  readonly name: string;
  readonly earlier: readonly GivenMessage[];
  /** The last message of the user's. */
  readonly last: string;
}

/** A session that holds the beginning of what was sent, and nothing else. */
export interface GoingOn {
  readonly sessionId: string;
  /** So many of the earlier messages it holds. */
  readonly held: number;
  /** The id of its last message, where that is the last one that was sent: said again, or waiting for results. */
  readonly again?: string;
}

/** A message of the user's with what answered it, as far as it is known. */
interface Round {
  /** Null: what an assistant said before any. */
  readonly user: string | null;
  /** Null: it has no answer. */
  answer: string | null;
  readonly id: string;
  /** The place behind its last message. */
  end: number;
}

/**
 * The sessions that hold the beginning of a conversation, those that hold most of it first, of several the one with the newest activity.
 * Who holds all of it is told at once.
 */
export async function* sessionsGoingOn(sessions: Pick<Sessions, "list" | "messages">, owner: Owner, sent: Sent): AsyncGenerator<GoingOn> {
  const rounds = roundsOf(sent.earlier);
  const partly: GoingOn[] = [];
  for await (const sessionId of begunAlike(sessions, owner, sent.name)) {
    const { data, nextCursor } = await sessions.messages(owner, sessionId, { limit: NEWEST_MESSAGES, order: "desc" });
    const messages = data.toReversed();
    const from = nextCursor === null ? 0 : messages.findIndex(({ role }) => role === "user");
    if (from === -1) continue;
    const own = roundsOf(messages.slice(from));
    const last = own.at(-1);
    const all = { sessionId, held: sent.earlier.length };
    if (last !== undefined && last.user === textOf("user", sent.last) && endsAs(own.slice(0, -1), rounds, rounds.length))
      yield { ...all, again: last.id };
    else if (endsAs(own, rounds, rounds.length)) yield all;
    else {
      let end = rounds.length - 1;
      const least = Math.max(0, end - MAX_SINCE);
      while (end >= least && !endsAs(own, rounds, end)) end -= 1;
      if (end >= least) partly.push({ sessionId, held: rounds[end - 1]?.end ?? 0 });
    }
  }
  yield* partly.sort((a, b) => b.held - a.held);
}

/** Ids of the user's active sessions, newest activity first. */
async function* begunAlike(sessions: Pick<Sessions, "list">, owner: Owner, name: string): AsyncGenerator<string> {
  let cursor: string | null = null;
  let compared = 0;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { data, nextCursor } = await sessions.list(owner, { limit: PAGE, ...(cursor !== null && { cursor }) });
    for (const { id, external_id } of data) {
      if (external_id?.startsWith(name) !== true) continue;
      if (compared === MAX_COMPARED) return;
      compared += 1;
      yield id;
    }
    if (nextCursor === null) return;
    cursor = nextCursor;
  }
}

/**
 * Whether a session's rounds are those of the conversation up to there. A message that has no answer the client may have dropped, but not
 * all that the two have in common.
 */
function endsAs(own: readonly Round[], sent: readonly Round[], end: number): boolean {
  let at = end;
  for (const round of own.toReversed()) {
    const other = sent[at - 1];
    if (other !== undefined && isAlike(round, other)) at -= 1;
    else if (round.answer !== null) return false;
  }
  return at < end || end === 0;
}

/** An answer is compared where both know it. The client may have in front of it what was streamed and then taken back. */
function isAlike(own: Round, sent: Round): boolean {
  return own.user === sent.user && (own.answer === null || sent.answer === null || sent.answer.endsWith(own.answer));
}

/** What an assistant says on the way to its answer counts for nothing. */
function roundsOf(messages: readonly (GivenMessage | Message)[]): Round[] {
  const rounds: Round[] = [];
  for (const [at, message] of messages.entries()) {
    const { role, content } = message;
    if (role !== "user" && role !== "assistant") continue;
    if (role === "user" || rounds.length === 0)
      rounds.push({ user: role === "user" ? textOf(role, content) : null, answer: null, id: "id" in message ? message.id : "", end: at });
    const round = rounds.at(-1);
    if (round === undefined) continue;
    round.end = at + 1;
    if (role === "assistant" && message.metadata?.outcome === undefined) round.answer = textOf(role, content);
  }
  return rounds;
}

/** Without blanks, which clients change. */
function textOf(role: keyof typeof MAX_CHARS, content: string): string {
  return content.slice(0, MAX_CHARS[role]).normalize("NFC").replace(/\s+/gu, "");
}
