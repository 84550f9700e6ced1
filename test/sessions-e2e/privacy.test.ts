import { expect, test, vi } from "vitest";
import { ownerOf } from "../../src/domain/owner.js";
import type { Session } from "../../src/domain/session.js";
import type { UserRecord } from "../../src/ports/owner-ledger.js";
import type { ErasureReceipt } from "../../src/ports/resources.js";
import { filesHolding, startWorld, tempDir, type World } from "../e2e/world.js";
import { eventually, HandClock } from "./models.js";

// Whole conversations, each turn on the disk: a busy machine takes its time.
vi.setConfig({ testTimeout: 120_000 });

const START = "2026-03-02T09:00:00Z";
const ines = ownerOf("default", "ines");

const recordOf = (world: World): Promise<UserRecord | null> => world.application.user(ines);

test("[erasure-complete] nothing of a visit is written after the receipt: not by the request that erases, nor by those beside it; the next visit begins a new record", async () => {
  const dir = await tempDir();
  const clock = new HandClock(START);
  let meanwhile: () => Promise<void> = async () => {};
  const world = await startWorld(
    dir,
    {},
    {
      clock,
      around: {
        history: (history) =>
          new Proxy(history, {
            get(target, name) {
              const value: unknown = Reflect.get(target, name, target);
              if (name === "erase")
                return async (...given: [typeof ines]) => {
                  await meanwhile();
                  return target.erase(...given);
                };
              return typeof value === "function" ? value.bind(target) : value;
            },
          }),
      },
    },
  );
  const guest = world.as("ines");
  await guest.say("Hello, I prefer jazz concerts.");
  await eventually(async () => (await recordOf(world))?.firstSeenAt).toBe("2026-03-02T09:00:00.000Z");
  clock.passDays(1);
  let beside = 0;
  meanwhile = async () => {
    // While the stores are being emptied, pages ask on; a turn is refused until it is done.
    beside = (await guest.request("GET", "/v1/me", undefined, { "X-Timezone": "Asia/Tokyo" })).status;
    world.application.seen(ines, { displayName: "Quetzalfeather" });
    expect(await guest.post("/v1/chat", { message: "Wait!" })).toMatchObject({ status: 409, body: { code: "OWNER_ERASED" } });
  };
  const erased = await guest.request<ErasureReceipt>("DELETE", "/v1/me?confirm=true", undefined, { "X-Timezone": "Asia/Tokyo" });
  expect(erased).toMatchObject({ status: 200, body: { verified: true } });
  expect(beside).toBe(200);
  expect(await recordOf(world)).toBeNull();
  await world.stop();
  expect(await filesHolding(dir, ["Quetzalfeather", "Asia/Tokyo"])).toEqual([]);

  const again = await startWorld(dir, {}, { clock });
  expect(await recordOf(again)).toBeNull();
  await again.as("ines").get("/v1/me");
  await eventually(async () => (await recordOf(again))?.firstSeenAt).toBe("2026-03-03T09:00:00.000Z");
});

test("[export-complete] an export that is taken back has the same last activity, whether that was a message, a change by the user, or neither since retention", async () => {
  const clock = new HandClock(START);
  const world = await startWorld(await tempDir(), { MEM0_ENABLED: "false" }, { clock });
  const guest = world.as("ines");
  const say = async (message: string) => {
    clock.passDays(0.01);
    return (await guest.say(message)).session_id;
  };
  const spoken = await say("Any concerts next week?");
  const renamed = await say("Hello");
  const archived = await say("Any plays next week?");
  const lapsed = (await guest.post<Session>("/v1/sessions", { title: "Brief", expires_in_days: 2 })).body.id;
  await guest.say("Good morning.", { session_id: lapsed });
  clock.passDays(1);
  await guest.request("PATCH", `/v1/sessions/${renamed}`, { title: "Another name", tags: ["kept"] });
  clock.passDays(1);
  await guest.request("PATCH", `/v1/sessions/${archived}`, { status: "archived" });
  await world.application.parts.retention({ dryRun: false });
  clock.passDays(1);

  const exported = async () => {
    const { body } = await guest.get<{ sessions: { id: string; updated_at: string }[] }>("/v1/me/export");
    const byId = body.sessions.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    return { ...body, exported_at: null, user: null, sessions: byId };
  };
  const listed = async () => {
    const all = await Promise.all(
      ["active", "archived", "deleted"].map((status) => guest.get<{ data: Session[] }>(`/v1/sessions?status=${status}`)),
    );
    return all.map(({ body }) => body.data.map(({ id, updated_at, title, status, tags }) => ({ id, updated_at, title, status, tags })));
  };
  const before = await exported();
  const shown = await listed();
  expect(before.sessions.map(({ id }) => id).sort()).toEqual([spoken, renamed, archived, lapsed].sort());
  expect(new Set(before.sessions.map(({ updated_at }) => updated_at)).size).toBe(4);
  await guest.delete("/v1/me?confirm=true");
  clock.passDays(1);
  expect((await guest.post("/v1/import", before)).status).toBe(200);
  expect(await listed()).toEqual(shown);
  expect(await exported()).toEqual(before);
});

test("a stop does what follows the last turns first: memory, summary, topic and tags are there at the next start", async () => {
  const dir = await tempDir();
  const world = await startWorld(dir, { SHORT_TERM_ROUNDS: "1" });
  const guest = world.as("ines");
  const first = await guest.say("My mother Amara is allergic to walnuts.");
  // Not waited for: the stop comes right behind the answer.
  const body = { message: "I prefer jazz. Are there concerts in Vienna next week?", session_id: first.session_id };
  expect((await guest.post("/v1/chat", body)).status).toBe(200);
  await world.stop();

  const next = (await startWorld(dir, { SHORT_TERM_ROUNDS: "1" })).as("ines");
  const { body: session } = await next.get<Session>(`/v1/sessions/${first.session_id}`);
  expect(session.write_back).toEqual({ pending_turns: 0, failed_turns: 0 });
  expect(session.summary).toContain("Amara");
  expect(session.tags).toContain("genre");
  expect(session.topic).toContain("Vienna");
});
