import { expect, test } from "vitest";
import type { Memory } from "../../src/domain/memory.js";
import { ownerOf } from "../../src/domain/owner.js";
import { startWorld, tempDir } from "../e2e/world.js";

const clock = { now: () => new Date("2026-05-01T12:00:00Z") };
const NEW_YORK = { "X-Timezone": "America/New_York" };

test("a date by hand holds through its day where the user is: by the request, else by what is known of them, else in UTC", async () => {
  const { application, as } = await startWorld(await tempDir(), {}, { clock });
  const ada = as("ada");
  const until = async (text: string, valid_until: string, headers = {}) =>
    (await ada.post<Memory>("/v1/memories", { text, valid_until }, headers)).body.valid_until;

  expect(await until("Likes the stalls", "2026-05-10")).toBe("2026-05-11T00:00:00.000Z");
  expect(await until("Likes the balcony", "2026-05-10T20:00:00+02:00", NEW_YORK)).toBe("2026-05-10T18:00:00.000Z");
  expect(await until("Likes the gallery", "2026-05-10", NEW_YORK)).toBe("2026-05-11T04:00:00.000Z");
  // Whoever reads it has what the requests until then told.
  expect((await ada.get<{ user: { time_zone: string } }>("/v1/me")).body.user.time_zone).toBe("America/New_York");
  await application.parts.ledger.seen(ownerOf("default", "ada"), { at: clock.now().toISOString(), timeZone: "Asia/Tokyo" });
  expect(await until("Likes the circle", "2026-05-10")).toBe("2026-05-10T15:00:00.000Z");

  const { body } = await ada.post<Memory>("/v1/memories", { text: "Likes boxes" });
  const patched = await ada.request<Memory>("PATCH", `/v1/memories/${body.id}`, { valid_until: "2026-05-20" }, NEW_YORK);
  expect(patched.body.valid_until).toBe("2026-05-21T04:00:00.000Z");
});
