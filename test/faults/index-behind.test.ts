import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { collected } from "../../src/platform/collected.js";
import type { AppError } from "../../src/platform/errors.js";
import type { SessionStore } from "../../src/ports/session-store.js";
import { World } from "../memory-e2e/world.js";

/** The journal is written and the index is not: its disk is full, or its file locked. Nothing of it may need a restart. */

const index = { full: false };

/** An index that refuses what is to be written, as SQLite does on a full disk, and still reads. */
function refusing(store: SessionStore): SessionStore {
  const written = new Proxy(store.index, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      if (name !== "apply") return value.bind(target);
      return async (...args: Parameters<SessionStore["index"]["apply"]>) => {
        if (index.full) throw Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
        return target.apply(...args);
      };
    },
  });
  return { ...store, index: written, close: () => store.close() };
}

let world: World;
beforeEach(async () => {
  index.full = false;
  world = await World.open({}, { around: { sessions: refusing } });
});
afterEach(() => world.close());

const idempotency = { key: "book-1", requestHash: "hash" };

describe("while the index can't follow the journal", () => {
  test("[turn-once] the same key is the same turn, also in a session that the index doesn't know yet", async () => {
    const ada = world.guest();
    index.full = true;
    const first = await ada.asks("Two tickets, please.", { idempotency });
    const again = await ada.asks("Two tickets, please.", { idempotency });
    expect(again).toEqual(first);
    index.full = false;
    expect(await ada.asks("Two tickets, please.", { idempotency })).toEqual(first);
    const records = await collected(world.app.parts.store.journal.read(ada.owner, first.session_id));
    expect(records.filter(({ type }) => type === "message")).toHaveLength(2);
  });

  test("another body with that key is refused", async () => {
    const ada = world.guest();
    index.full = true;
    await ada.asks("Two tickets, please.", { idempotency });
    await expect(ada.asks("Three tickets, please.", { idempotency: { ...idempotency, requestHash: "other" } })).rejects.toMatchObject({
      code: "IDEMPOTENCY_KEY_REUSED",
    });
  });

  test("a session that the index doesn't know yet is out of reach for the moment, and not unknown", async () => {
    const ada = world.guest();
    index.full = true;
    const { session_id } = await ada.asks("Good evening.");
    await expect(ada.asks("Are you there?")).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE" });
    await expect(world.guest("bob").asks("Are you there?", { sessionId: session_id })).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    index.full = false;
    expect((await ada.asks("Are you there?")).turn).toBe(2);
  });

  test("[degradation-honest] readiness and flush say so", async () => {
    const ada = world.guest();
    await ada.says("Good evening.");
    index.full = true;
    await ada.asks("I need wheelchair access.");
    expect((await world.app.readiness()).parts.short_term).toMatchObject({ status: "degraded" });
    await expect(ada.flush()).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE" } satisfies Partial<AppError>);
  });
});

test("[write-back-once] when it can again, what was said is written back, with no restart and no other turn", async () => {
  const ada = world.guest();
  await ada.says("Good evening.");
  index.full = true;
  await ada.asks("I need wheelchair access.");
  index.full = false;
  await vi.waitFor(async () => expect(await ada.holds()).toEqual(["Needs wheelchair access"]), { timeout: 10_000, interval: 50 });
  expect((await world.app.sessions.get(ada.owner, ada.sessionId ?? "")).message_count).toBe(4);
  expect((await world.app.readiness()).parts.short_term).toEqual({ status: "ok" });
});
