import { AppError } from "../platform/errors.js";
import type { Owner } from "./owner.js";
import type { JsonObject, Session, SessionStatus } from "./session.js";

/**
 * The life of a session, pure: which status follows which, and when retention moves one on.
 *
 * none → active ⇄ archived → deleted (recoverable) → purged (gone for good). Restoring gives a deleted session the status that
 * it had.
 */
export const LIFECYCLE_STATES = ["none", "active", "archived", "deleted", "purged"] as const;
export type LifecycleState = (typeof LIFECYCLE_STATES)[number];
export const LIFECYCLE_EVENTS = ["create", "archive", "activate", "delete", "restore", "purge", "lapse"] as const;
/** `lapse`: its time has run out: its own `expires_at`, where it has one, else no activity for as long as retention allows. */
export type LifecycleEvent = (typeof LIFECYCLE_EVENTS)[number];

/** `before`: the status that a deleted session had. An event that is not listed is refused. */
const TRANSITIONS: Readonly<Record<LifecycleState, Readonly<Partial<Record<LifecycleEvent, LifecycleState | "before">>>>> = {
  none: { create: "active" },
  active: { activate: "active", archive: "archived", delete: "deleted", lapse: "deleted", purge: "purged" },
  archived: { activate: "active", archive: "archived", delete: "deleted", lapse: "deleted", purge: "purged" },
  deleted: { delete: "deleted", restore: "before", lapse: "purged", purge: "purged" },
  purged: {},
};

/**
 * The state after an event. The same state where the event changes nothing (archiving an archived session, deleting a deleted one).
 * @param before the status that a deleted session had; active where it is not known.
 * @throws INVALID_TRANSITION
 */
export function nextState(state: LifecycleState, event: LifecycleEvent, before: "active" | "archived" = "active"): LifecycleState {
  const next = TRANSITIONS[state][event];
  if (next === undefined) throw new AppError("INVALID_TRANSITION", { detail: `A session that is ${state} can't ${event}.` });
  return next === "before" ? before : next;
}

/** Days; 0: never. */
export interface RetentionPolicy {
  /** Without activity, until an active session is deleted. Default 30. */
  readonly activeDays: number;
  /** Without activity, until an archived session is deleted. Default 90. */
  readonly archivedDays: number;
  /** For which a deleted session can be restored. Default 30. */
  readonly deletedDays: number;
}

/** Whose sessions are kept for how long. */
export type RetentionOf = (owner: Owner) => RetentionPolicy;

const DAY_MS = 86_400_000;

function policyDays(policy: RetentionPolicy, status: SessionStatus): number {
  return { active: policy.activeDays, archived: policy.archivedDays, deleted: policy.deletedDays }[status];
}

/**
 * What retention does with a session at `now`: `delete` (recoverable), `purge`, or null.
 * The days count from the last activity or from when the session got its status, whichever is later: so that one that was
 * archived or restored today is kept as long as any other. A session's own `expires_at`, sooner or later, counts in their place until it is
 * deleted. A day is 24 hours; the limit itself is due.
 */
export function retentionDecision(
  session: Pick<Session, "status" | "updated_at" | "expires_at"> & { readonly statusSince: string; readonly metadata?: JsonObject },
  policy: RetentionPolicy,
  now: Date,
): "delete" | "purge" | null {
  const outcome = nextState(session.status, "lapse") === "purged" ? "purge" : "delete";
  if (lapsesAtMs(session, policy) > now.getTime()) return null;
  // Nothing of an incognito session is to be had back.
  return outcome === "delete" && isExpired(session, now) && session.metadata?.incognito === true ? "purge" : outcome;
}

type Ageing = Pick<Session, "status" | "updated_at" | "expires_at"> & { readonly statusSince: string };

/** When a session is as old as the policy allows, in milliseconds since the epoch; infinite where it allows any age. */
function agedMs({ status, updated_at, statusSince }: Ageing, policy: RetentionPolicy): number {
  const days = policyDays(policy, status);
  if (days === 0) return Number.POSITIVE_INFINITY;
  const since = status === "deleted" ? Date.parse(statusSince) : Math.max(Date.parse(updated_at), Date.parse(statusSince));
  return since + days * DAY_MS;
}

/** When {@link retentionDecision} first says something of a session that nothing happens to; null: never. */
export function lapsesAt(session: Ageing, policy: RetentionPolicy): string | null {
  const at = lapsesAtMs(session, policy);
  return Number.isFinite(at) ? new Date(at).toISOString() : null;
}

function lapsesAtMs(session: Ageing, policy: RetentionPolicy): number {
  return session.status === "deleted" || session.expires_at === null ? agedMs(session, policy) : Date.parse(session.expires_at);
}

export function isExpired(session: Pick<Session, "expires_at">, now: Date): boolean {
  return session.expires_at !== null && Date.parse(session.expires_at) <= now.getTime();
}

export function daysFrom(now: Date, days: number): string {
  return new Date(now.getTime() + days * DAY_MS).toISOString();
}

/** No session with this status that was active after this time can be due; null where no policy ever lets one lapse by age. */
export function inactiveSince(policies: readonly RetentionPolicy[], status: SessionStatus, now: Date): string | null {
  const days = policies.map((policy) => policyDays(policy, status)).filter((each) => each > 0);
  return days.length === 0 ? null : daysFrom(now, -Math.min(...days));
}
