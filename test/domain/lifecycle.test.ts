import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  inactiveSince,
  LIFECYCLE_EVENTS,
  LIFECYCLE_STATES,
  type LifecycleEvent,
  type LifecycleState,
  nextState,
  type RetentionPolicy,
  retentionDecision,
} from "../../src/domain/lifecycle.js";
import { AppError } from "../../src/platform/errors.js";

const REFUSED = "refused";

/** Every state under every event, written out by hand. */
const TABLE: Record<LifecycleState, Record<LifecycleEvent, LifecycleState | typeof REFUSED>> = {
  none: {
    create: "active",
    archive: REFUSED,
    activate: REFUSED,
    delete: REFUSED,
    restore: REFUSED,
    purge: REFUSED,
    lapse: REFUSED,
  },
  active: {
    create: REFUSED,
    archive: "archived",
    activate: "active",
    delete: "deleted",
    restore: REFUSED,
    purge: "purged",
    lapse: "deleted",
  },
  archived: {
    create: REFUSED,
    archive: "archived",
    activate: "active",
    delete: "deleted",
    restore: REFUSED,
    purge: "purged",
    lapse: "deleted",
  },
  deleted: {
    create: REFUSED,
    archive: REFUSED,
    activate: REFUSED,
    delete: "deleted",
    restore: "archived",
    purge: "purged",
    lapse: "purged",
  },
  purged: {
    create: REFUSED,
    archive: REFUSED,
    activate: REFUSED,
    delete: REFUSED,
    restore: REFUSED,
    purge: REFUSED,
    lapse: REFUSED,
  },
};

function outcome(state: LifecycleState, event: LifecycleEvent, before: "active" | "archived"): string {
  try {
    return nextState(state, event, before);
  } catch (error) {
    expect(error).toBeInstanceOf(AppError);
    expect((error as AppError).code).toBe("INVALID_TRANSITION");
    return REFUSED;
  }
}

describe("the life of a session", () => {
  test.each(LIFECYCLE_STATES.flatMap((state) => LIFECYCLE_EVENTS.map((event) => [state, event, TABLE[state][event]] as const)))(
    "%s on %s: %s",
    (state, event, expected) => {
      expect(outcome(state, event, "archived")).toBe(expected);
    },
  );

  test("restoring gives back the status that the session had", () => {
    expect(nextState("deleted", "restore", "active")).toBe("active");
    expect(nextState("deleted", "restore", "archived")).toBe("archived");
  });

  test("nothing that was purged ever comes back", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...LIFECYCLE_EVENTS)), (events) => {
        let state: LifecycleState = "none";
        let purged = false;
        for (const event of events) {
          const next = outcome(state, event, "active");
          if (next !== REFUSED) state = next as LifecycleState;
          purged ||= state === "purged";
        }
        expect(state === "purged").toBe(purged);
      }),
    );
  });
});

const POLICY: RetentionPolicy = { activeDays: 30, archivedDays: 90, deletedDays: 30 };
const NOW = new Date("2026-11-21T12:00:00.000Z");

function daysAgo(days: number, ms = 0): string {
  return new Date(NOW.getTime() - days * 86_400_000 + ms).toISOString();
}

describe("retention", () => {
  test.each([
    ["an active session is kept for 30 days without activity", "active", 29.99, 29.99, null, null],
    ["and deleted on the 30th", "active", 30, 30, null, "delete"],
    ["one that was restored today is kept, however old", "active", 400, 0, null, null],
    ["one that was archived today is kept, however old", "archived", 400, 0, null, null],
    ["an archived session is kept for 90 days", "archived", 89, 89, null, null],
    ["and deleted on the 90th", "archived", 90, 90, null, "delete"],
    ["a deleted session can be restored for 30 days from its deletion, not from its last activity", "deleted", 200, 29, null, null],
    ["and is purged then", "deleted", 200, 30, null, "purge"],
    ["an expired active session is deleted, not purged", "active", 0, 0, 1, "delete"],
    ["an expired archived session too", "archived", 0, 0, 1, "delete"],
    ["an expired deleted session still has its 30 days", "deleted", 5, 5, 5, null],
    ["a session that expires later is kept", "active", 0, 0, -1, null],
    ["also an active one that is as old as retention allows any other", "active", 30, 30, -1, null],
    ["and an archived one", "archived", 400, 400, -1, null],
    ["but no deleted one", "deleted", 30, 30, -1, "purge"],
  ] as const)("%s", (_name, status, activeDaysAgo, statusDaysAgo, expiredDaysAgo, expected) => {
    const session = {
      status,
      updated_at: daysAgo(activeDaysAgo),
      statusSince: daysAgo(statusDaysAgo),
      expires_at: expiredDaysAgo === null ? null : daysAgo(expiredDaysAgo),
    };
    expect(retentionDecision(session, POLICY, NOW)).toBe(expected);
  });

  test("0 days means never, but a session's own expiry still counts", () => {
    const never = { activeDays: 0, archivedDays: 0, deletedDays: 0 };
    const old = { updated_at: daysAgo(5000), statusSince: daysAgo(5000), expires_at: null };
    for (const status of ["active", "archived", "deleted"] as const) expect(retentionDecision({ ...old, status }, never, NOW)).toBeNull();
    expect(retentionDecision({ ...old, status: "active", expires_at: daysAgo(1) }, never, NOW)).toBe("delete");
    expect(inactiveSince([never], "active", NOW)).toBeNull();
  });

  test("what the index is asked for holds every session that is due by age", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("active", "archived", "deleted"),
        fc.integer({ min: 0, max: 200 * 86_400 }),
        fc.integer({ min: 0, max: 200 * 86_400 }),
        (status, activeSeconds, statusSeconds) => {
          const ago = (seconds: number) => new Date(NOW.getTime() - seconds * 1000).toISOString();
          const session = {
            status,
            updated_at: ago(activeSeconds),
            statusSince: ago(Math.min(activeSeconds, statusSeconds)),
            expires_at: null,
          } as const;
          if (retentionDecision(session, POLICY, NOW) === null) return;
          const limit = inactiveSince([POLICY], status, NOW) ?? "";
          expect(session.updated_at <= limit).toBe(true);
        },
      ),
    );
  });
});
