import { SignJWT } from "jose";
import { describe, expect, test, vi } from "vitest";
import type { Memory } from "../../src/domain/memory.js";
import type { Session } from "../../src/domain/session.js";
import type { ChatAnswer } from "../../src/ports/resources.js";
import { startWorld, tempDir, type World } from "../e2e/world.js";
import { eventually, HandClock, listeningConcierge, talkingModel } from "./models.js";

// Whole conversations, each turn on the disk: a busy machine takes its time.
vi.setConfig({ testTimeout: 120_000 });

/** Whole turns through the HTTP API, at moments when the day depends on where one is. */

const SECRET = "a-secret-of-more-than-thirty-two-bytes!";

async function ask(world: World, body: Record<string, unknown>, headers: Record<string, string> = {}): Promise<ChatAnswer> {
  const { status, text, body: answer } = await world.as("ines").post<ChatAnswer>("/v1/chat", body, headers);
  expect(status, text).toBe(200);
  return answer;
}

/** The first day that the turn searched. */
function searchedFrom(answer: ChatAnswer): unknown {
  const search = answer.steps.find(({ name }) => name === "search_events");
  return (search?.input as { from?: string } | undefined)?.from;
}

const MOMENTS = [
  ["the night the clocks go back in Lisbon, after midnight there", "2026-10-24T23:30:00Z", "Europe/Lisbon", "2026-10-26"],
  ["the same moment in UTC", "2026-10-24T23:30:00Z", "UTC", "2026-10-25"],
  ["the second of the two hours from one to two in Lisbon", "2026-10-25T01:30:00Z", "Europe/Lisbon", "2026-10-26"],
  ["half past eleven at night, when the clocks went back that morning", "2026-10-25T23:30:00Z", "Europe/Lisbon", "2026-10-26"],
  ["the night before the clocks go forward in Lisbon", "2026-03-28T23:30:00Z", "Europe/Lisbon", "2026-03-29"],
  ["after midnight in Lisbon, on the day that they went forward", "2026-03-29T23:30:00Z", "Europe/Lisbon", "2026-03-31"],
  ["the evening before the clocks go forward America/New_York", "2026-03-08T04:30:00Z", "America/New_York", "2026-03-08"],
  ["the evening of the short day America/New_York", "2026-03-09T03:30:00Z", "America/New_York", "2026-03-09"],
  ["the evening of the long day America/New_York", "2026-11-02T04:30:00Z", "America/New_York", "2026-11-02"],
  ["New Year's Eve in New York, when it is January in UTC", "2027-01-01T03:00:00Z", "America/New_York", "2027-01-01"],
  ["New Year's Day in Tokyo, when it is December in UTC", "2026-12-31T16:00:00Z", "Asia/Tokyo", "2027-01-02"],
  ["leap day, east of the date line", "2028-02-28T12:00:00Z", "Pacific/Auckland", "2028-03-01"],
] as const;

test("tomorrow is the guest's: over both changes of the clocks, the year's end, and a leap day", async () => {
  const clock = new HandClock(MOMENTS[0][1]);
  const world = await startWorld(await tempDir(), { MEM0_ENABLED: "false" }, { clock });
  for (const [when, now, timeZone, tomorrow] of MOMENTS) {
    clock.set(now);
    const answer = await ask(world, { message: "What concerts are there tomorrow?" }, { "X-Timezone": timeZone });
    expect(searchedFrom(answer), when).toBe(tomorrow);
  }
});

describe("the time zone of a turn", () => {
  test("is the header's, else the session's own, else the one the user was last seen in, else UTC; the model is told the day and hour there", async () => {
    const model = listeningConcierge();
    const world = await startWorld(await tempDir(), { MEM0_ENABLED: "false" }, { model, clock: new HandClock("2026-12-31T23:30:00Z") });
    const tomorrow = async (body: Record<string, unknown>, headers: Record<string, string> = {}) => {
      const answer = await ask(world, { message: "Any concerts tomorrow?", ...body }, headers);
      const told = /^Now \(data\): ([^;]*);/.exec(model.heard.at(-1)?.messages.findLast(({ role }) => role === "user")?.content ?? "")?.[1];
      return [searchedFrom(answer), told];
    };
    const tokyo = { metadata: { time_zone: "Asia/Tokyo" } };
    expect(await tomorrow({})).toEqual(["2027-01-01", "Thursday 31 December 2026, 23:30 UTC"]);
    expect(await tomorrow(tokyo)).toEqual(["2027-01-02", "Friday 1 January 2027, 08:30 Asia/Tokyo"]);
    expect(await tomorrow(tokyo, { "X-Timezone": "America/New_York" })).toEqual([
      "2027-01-01",
      "Thursday 31 December 2026, 18:30 America/New_York",
    ]);
    // From then on New York is where the user was seen last.
    await eventually(async () => (await world.as("ines").get<{ user: { time_zone: string } }>("/v1/me")).body.user.time_zone).toBe(
      "America/New_York",
    );
    expect(await tomorrow({})).toEqual(["2027-01-01", "Thursday 31 December 2026, 18:30 America/New_York"]);
    expect(await tomorrow(tokyo)).toEqual(["2027-01-02", "Friday 1 January 2027, 08:30 Asia/Tokyo"]);
  });

  test("[hostile-input] an import that names a zone which is none is taken, and the user goes on as without one", async () => {
    const world = await startWorld(await tempDir(), { MEM0_ENABLED: "false" });
    const { session_id } = await ask(world, { message: "Any concerts tomorrow?" }, { "X-Timezone": "Europe/Lisbon" });
    const { text } = await world.as("ines").get("/v1/me/export");
    const elsewhere = await startWorld(await tempDir(), { MEM0_ENABLED: "false" });
    const taken = await elsewhere.as("ines").post("/v1/import", text.replaceAll("Europe/Lisbon", "wnK"));
    expect([taken.status, taken.body]).toEqual([200, expect.objectContaining({ sessions: 1, messages: 2 })]);
    await ask(elsewhere, { message: "And on Sunday?", session_id });
    expect((await elsewhere.as("ines").get("/v1/me/export")).text).not.toContain("wnK");
  });

  test("a session keeps its zone from turn to turn, also when its metadata is changed to another; one that is none is passed over", async () => {
    const world = await startWorld(await tempDir(), { MEM0_ENABLED: "false" }, { clock: new HandClock("2026-12-31T23:30:00Z") });
    const message = "Any concerts tomorrow?";
    const first = await ask(world, { message, metadata: { time_zone: "Asia/Tokyo" } });
    const id = first.session_id;
    expect(searchedFrom(await ask(world, { message, session_id: id }))).toBe("2027-01-02");
    const change = (time_zone: unknown) => world.as("ines").request("PATCH", `/v1/sessions/${id}`, { metadata: { time_zone } });
    await change("America/New_York");
    expect(searchedFrom(await ask(world, { message, session_id: id }))).toBe("2027-01-01");
    for (const none of ["Mars/Olympus_Mons", "", 7, null, "../../etc"]) {
      await change(none);
      expect(searchedFrom(await ask(world, { message, session_id: id }))).toBe("2027-01-01");
    }
  });

  test("a header that is no time zone is refused", async () => {
    const world = await startWorld(await tempDir(), { MEM0_ENABLED: "false" });
    const refused = await world.as("ines").post("/v1/chat", { message: "Hello" }, { "X-Timezone": "Mars/Olympus_Mons" });
    expect(refused).toMatchObject({ status: 400, body: { code: "INVALID_REQUEST" } });
  });

  test("[identity-from-server] comes with name and provider from the token's claims, from the very first turn on, and all stand in /v1/me and the export", async () => {
    const clock = new HandClock("2026-12-31T23:30:00Z");
    const world = await startWorld(await tempDir(), { AUTH_MODE: "jwt", JWT_SECRET: SECRET, MEM0_ENABLED: "false" }, { clock });
    const token = await new SignJWT({ name: "Inês Lima", zoneinfo: "Asia/Tokyo" })
      .setProtectedHeader({ alg: "HS256" })
      .setSubject("ines")
      .setIssuer("https://id.example.org")
      .setExpirationTime(new Date("2027-06-01T00:00:00Z"))
      .sign(new TextEncoder().encode(SECRET));
    const headers = { Authorization: `Bearer ${token}` };
    expect(searchedFrom(await ask(world, { message: "Any concerts tomorrow?" }, headers))).toBe("2027-01-02");
    clock.passDays(2);
    const me = await world.as("ines").request<{ user: object }>("GET", "/v1/me", undefined, headers);
    const record = {
      display_name: "Inês Lima",
      provider: "https://id.example.org",
      time_zone: "Asia/Tokyo",
      first_seen_at: "2026-12-31T23:30:00.000Z",
    };
    expect(me.body.user).toMatchObject({ tenant: "default", id: "ines", ...record });
    const last_seen_at = "2027-01-02T23:30:00.000Z";
    const exported = await world.as("ines").request<{ user: object }>("GET", "/v1/me/export", undefined, headers);
    expect(exported.body.user).toEqual({ ...record, last_seen_at });
  });
});

describe("what ends with a day", () => {
  test.each([
    ["in Lisbon, over the hour that is doubled", "2026-10-24T12:00:00Z", "Europe/Lisbon", "2026-10-25T23:59:59.000Z"],
    ["in New York, over the hour that is left out", "2026-03-07T17:00:00Z", "America/New_York", "2026-03-09T03:59:59.000Z"],
    ["in Tokyo, over the year's end", "2026-12-30T17:00:00Z", "Asia/Tokyo", "2027-01-01T14:59:59.000Z"],
  ])("a need of a trip ends with the guest's day: %s", async (_where, now, timeZone, end) => {
    const clock = new HandClock(now);
    const world = await startWorld(await tempDir(), {}, { clock });
    const ines = world.as("ines");
    const answer = await ask(world, { message: "I need step-free access until tomorrow." }, { "X-Timezone": timeZone });
    await ines.post(`/v1/sessions/${answer.session_id}/flush?timeout_ms=20000`);
    const active = async () => (await ines.get<{ data: Memory[] }>("/v1/memories?status=active")).body.data;
    expect((await active()).map(({ category, scope, valid_until }) => [category, scope, valid_until])).toEqual([
      ["accessibility", "trip", end],
    ]);
    clock.set(end);
    const recalled = async () => (await ask(world, { message: "Any concerts?" }, { "X-Timezone": timeZone })).memory.recalled.length;
    clock.set(new Date(Date.parse(end) - 60_000).toISOString());
    expect(await recalled()).toBe(1);
    clock.set(new Date(Date.parse(end) + 60_000).toISOString());
    expect(await recalled()).toBe(0);
  });

  test("a model that names a session is told the guest's day, so that no title says tomorrow", async () => {
    const model = talkingModel({ other: () => "Fado on 26 October" });
    const world = await startWorld(await tempDir(), { MEM0_ENABLED: "false" }, { model, clock: new HandClock("2026-10-24T23:30:00Z") });
    const { session_id } = await ask(world, { message: "Is there fado tomorrow?" }, { "X-Timezone": "Europe/Lisbon" });
    const title = async () => (await world.as("ines").get<Session>(`/v1/sessions/${session_id}`)).body.title;
    await eventually(title).toBe("Fado on 26 October");
    const asked = model.others.find(({ messages }) => messages[0]?.content.startsWith("Name the conversation"));
    expect(asked?.messages[0]?.content).toContain('not as "today" or "tomorrow"');
    expect(JSON.parse(asked?.messages[1]?.content ?? "")).toMatchObject({ said_on: "Sunday 25 October 2026" });
  });
});
