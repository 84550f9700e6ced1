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
/** So many sessions with other first words are compared, for clients that leave a conversation's beginning out. */
const MAX_OTHERS = 5;
/** So many rounds must be alike where the beginning is not: one may be by chance. */
const LEAST_ALIKE = 2;

/** So many of the newest rounds may have been said elsewhere since. */
const MAX_SINCE = 100;
/** What is known of longer messages: as much as a turn's may have, and an answer. In characters. */
export const MAX_CHARS = { user: 8_000, assistant: 64_000 } as const;

/** A conversation as it was sent, up to its last message of the user's. */
export interface Sent {
  /** What the external ids of sessions begin with that began with the same words; {@link DOOR} stands before all. */
  readonly name: string;
  readonly earlier: readonly GivenMessage[];
  readonly last: string;
}

/** What the external ids of sessions begin with that began here. */
export const DOOR = "openai:";

/** A session that ends with the beginning of what was sent. */
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
  /** Null: it has none. */
  answer: string | null;
  /** Of an answer that was cut off, what there is. Null: nothing. */
  cutOff: string | null;
  readonly id: string;
  /** The place behind its last message. */
  end: number;
}

/**
 * The sessions that hold the beginning of a conversation, those that hold most of it first, of several the one with the newest activity.
 * Who holds all of it is told at once, and behind those who has the last message too: what is said anew takes a turn's place. Of a
 * conversation whose beginning was left out, a session that ends with all that was sent.
 */
export async function* sessionsGoingOn(sessions: Pick<Sessions, "list" | "messages">, owner: Owner, sent: Sent): AsyncGenerator<GoingOn> {
  const rounds = roundsOf(sent.earlier);
  const again: GoingOn[] = [];
  const partly: GoingOn[] = [];
  for await (const { id: sessionId, began } of candidates(sessions, owner, sent.name)) {
    const own = await newestRounds(sessions, owner, sessionId);
    if (own === null) continue;
    const last = own.at(-1);
    const all = { sessionId, held: sent.earlier.length };
    const holds = (held: readonly Round[]) => (began === "alike" ? isHeld(held, rounds) : isItsEnd(held, rounds));
    if (last !== undefined && last.user === textOf("user", sent.last) && holds(own.slice(0, -1))) again.push({ ...all, again: last.id });
    else if (holds(own)) yield all;
    else if (began === "alike") {
      let end = rounds.length - 1;
      const least = Math.max(0, end - MAX_SINCE);
      while (end >= least && !isHeld(own, rounds.slice(0, end))) end -= 1;
      if (end >= least) partly.push({ sessionId, held: rounds[end - 1]?.end ?? 0 });
    }
  }
  yield* again;
  yield* partly.sort((a, b) => b.held - a.held);
}

/** The user's active sessions that began here, newest activity first: those that began with the same words, then some others. */
async function* candidates(
  sessions: Pick<Sessions, "list">,
  owner: Owner,
  name: string,
): AsyncGenerator<{ readonly id: string; readonly began: "alike" | "otherwise" }> {
  const others: string[] = [];
  let cursor: string | null = null;
  let compared = 0;
  for (let page = 0; page < MAX_PAGES && compared < MAX_COMPARED; page += 1) {
    const { data, nextCursor } = await sessions.list(owner, { limit: PAGE, ...(cursor !== null && { cursor }) });
    for (const { id, external_id } of data) {
      if (external_id?.startsWith(name) !== true) {
        if (others.length < MAX_OTHERS && external_id?.startsWith(DOOR)) others.push(id);
        continue;
      }
      if (compared === MAX_COMPARED) break;
      compared += 1;
      yield { id, began: "alike" };
    }
    if (nextCursor === null) break;
    cursor = nextCursor;
  }
  for (const id of others) yield { id, began: "otherwise" };
}

/** Null where they can't be told: the newest round alone has more messages than are read. */
async function newestRounds(sessions: Pick<Sessions, "messages">, owner: Owner, sessionId: string): Promise<Round[] | null> {
  const { data, nextCursor } = await sessions.messages(owner, sessionId, { limit: NEWEST_MESSAGES, order: "desc" });
  const messages = data.toReversed();
  const from = nextCursor === null ? 0 : messages.findIndex(({ role }) => role === "user");
  return from === -1 ? null : roundsOf(messages.slice(from));
}

/** Whether a session's rounds, as far as they were read, are the last ones that were sent. */
function isHeld(own: readonly Round[], sent: readonly Round[]): boolean {
  const left = leftOf(own, sent);
  return left?.own === 0 && (left.sent < sent.length || sent.length === 0);
}

/** Whether all rounds that were sent are a session's last ones. */
function isItsEnd(own: readonly Round[], sent: readonly Round[]): boolean {
  const whole = sent.slice(sent[0]?.user === null ? 1 : 0);
  return whole.length >= LEAST_ALIKE && leftOf(own, whole)?.sent === 0;
}

/**
 * Goes back from where both end, as far as both go: how many rounds are left of each. Null: they differ. A message that has no answer here
 * the client may have dropped.
 */
function leftOf(own: readonly Round[], sent: readonly Round[]): { readonly own: number; readonly sent: number } | null {
  let left = sent.length;
  for (const [at, round] of [...own.entries()].toReversed()) {
    const other = sent[left - 1];
    if (other !== undefined && isAlike(round, other)) left -= 1;
    else if (round.answer !== null) return other === undefined ? { own: at + 1, sent: left } : null;
  }
  return { own: 0, sent: left };
}

/** An answer is compared where both know it. The client may have in front of it what was streamed and then taken back. */
function isAlike(own: Round, sent: Round): boolean {
  if (own.user !== sent.user) return false;
  if (sent.answer === null) return true;
  if (own.answer !== null) return sent.answer.endsWith(own.answer);
  return own.cutOff !== null && (sent.answer.startsWith(own.cutOff) || own.cutOff.startsWith(sent.answer));
}

/** What an assistant says on the way to its answer counts for nothing. */
function roundsOf(messages: readonly (GivenMessage | Message)[]): Round[] {
  const rounds: Round[] = [];
  for (const [at, message] of messages.entries()) {
    const { role, content } = message;
    if (role !== "user" && role !== "assistant") continue;
    if (role === "user" || rounds.length === 0)
      rounds.push({
        user: role === "user" ? textOf(role, content) : null,
        answer: null,
        cutOff: null,
        id: "id" in message ? message.id : "",
        end: at,
      });
    const round = rounds.at(-1);
    if (round === undefined) continue;
    round.end = at + 1;
    if (role === "assistant") round[message.metadata?.outcome === undefined ? "answer" : "cutOff"] = textOf(role, content);
  }
  return rounds;
}

/** Without blanks, which clients change. */
function textOf(role: keyof typeof MAX_CHARS, content: string): string {
  return content.slice(0, MAX_CHARS[role]).normalize("NFC").replace(/\s+/gu, "");
}
