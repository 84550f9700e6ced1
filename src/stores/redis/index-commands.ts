import { createHash } from "node:crypto";
import type { SessionStatus } from "../../domain/session.js";
import { type Kept, keptJson } from "../journal/kept-content.js";
import type { PendingPut, SessionChanges } from "../sqlite-index/session-changes.js";
import type { SessionState } from "../sqlite-index/session-fold.js";
import type { Need } from "./hints.js";
import type { OrderKey } from "./keys.js";
import type { Command, WritePlan } from "./write-script.js";

/** What a write makes of the index: a part of its plan. */
export type IndexPart = Pick<WritePlan, "needs" | "commands" | "keys" | "planned" | "failed" | "done" | "takenBackTo">;

const UNCHANGED: IndexPart = { needs: [], commands: [], keys: [], planned: [], failed: [], done: [], takenBackTo: -1 };

/** `before`: the state that the index has. */
export function indexPart(sessionId: string, before: SessionState | null, changes: SessionChanges | null, kept: Kept): IndexPart {
  if (changes === null) return UNCHANGED;
  const { state, pending, failed } = changes;
  const waiting = pending.filter(({ state: is }) => is === "pending").map(({ atMs }) => atMs);
  const anyFailed = failed.length > 0 || waiting.length < pending.length;
  return {
    needs: [
      ...statusNeeds(state),
      ...(waiting.length > 0 ? [["due", Math.min(...waiting)] as const] : []),
      ...(anyFailed ? [["failed", 0] as const] : []),
    ],
    commands: [
      ["HSET", "states", sessionId, keptJson(state, kept)],
      ["HSET", "indexed", sessionId, String(state.indexedSeq)],
      ...(before === null && state.session.external_id !== null
        ? [["ZADD", "external", 0, externalMember(state.session.external_id, sessionId)] as const]
        : []),
      ...orderCommands(sessionId, before?.session.status ?? null, state),
      ...standingCommands(changes, kept),
      ...pending.map((put): Command => ["HSETNX", put.state, `${sessionId}:${put.turn}`, rowOf(put)]),
    ],
    keys: changes.keys.map(({ key, entry }) => {
      const atMs = Date.parse(entry.at);
      return [idempotencyField(key), atMs, JSON.stringify([atMs, sessionId, JSON.stringify(entry)])];
    }),
    planned: changes.planned,
    failed: failed.map(({ turn, attempts, errorCode }) => [turn, attempts, errorCode ?? ""]),
    done: changes.done,
    takenBackTo: changes.takenBackTo ?? -1,
  };
}

/** A key is a client's text of any length. */
export function idempotencyField(key: string): string {
  return hashOf(key);
}

/** In the set of an owner's external ids, together with those that have the same one. */
export function externalMember(externalId: string, sessionId: string): string {
  return `${externalPrefix(externalId)}${sessionId}`;
}

export function externalPrefix(externalId: string): string {
  return `${hashOf(externalId)}:`;
}

/** Since when a session is as it is, in milliseconds: active ones since their last activity. */
function sinceOf({ session, statusSince }: SessionState): number {
  return Date.parse(session.status === "active" ? session.updated_at : statusSince);
}

function statusNeeds(state: SessionState): readonly Need[] {
  const { status, expires_at: expiresAt } = state.session;
  const since: Need = [`since:${status}`, sinceOf(state)];
  return expiresAt === null ? [since] : [since, [`expires:${status}`, Date.parse(expiresAt)]];
}

function orderCommands(sessionId: string, before: SessionStatus | null, state: SessionState): readonly Command[] {
  const { status, updated_at: updatedAt, expires_at: expiresAt } = state.session;
  const left = before === null || before === status ? [] : orderKeysOf(before);
  return [
    ...left.map((key): Command => ["ZREM", key, sessionId]),
    ["ZADD", `listed:${status}`, Date.parse(updatedAt), sessionId],
    ["ZADD", `since:${status}`, sinceOf(state), sessionId],
    expiresAt === null ? ["ZREM", `expires:${status}`, sessionId] : ["ZADD", `expires:${status}`, Date.parse(expiresAt), sessionId],
  ];
}

function standingCommands({ standings, summaries }: SessionChanges, kept: Kept): readonly Command[] {
  return [
    ...[...summaries].map(([key, summary]): Command => ["HSET", "texts", key, keptJson(summary, kept)]),
    ...standings.flatMap(({ seq, standing, summaryKey }): Command[] => [
      ["ZREMRANGEBYSCORE", "standings", seq, seq],
      ["ZADD", "standings", seq, JSON.stringify([seq, standing.messageCount, standing.openedBy, summaryKey])],
    ]),
  ];
}

function orderKeysOf(status: SessionStatus): readonly OrderKey[] {
  return [`listed:${status}`, `since:${status}`, `expires:${status}`];
}

function rowOf({ fromSeq, answeredSeq, atMs, attempts, planned, errorCode }: PendingPut): string {
  return JSON.stringify([fromSeq, answeredSeq, atMs, atMs, attempts, planned ? 1 : 0, errorCode ?? ""]);
}

function hashOf(text: string): string {
  return createHash("sha256").update(JSON.stringify(text)).digest("base64url");
}
