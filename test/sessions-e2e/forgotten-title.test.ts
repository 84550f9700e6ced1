import { expect, test } from "vitest";
import type { Memory } from "../../src/domain/memory.js";
import type { Session } from "../../src/domain/session.js";
import { startWorld, tempDir } from "../e2e/world.js";
import { eventually } from "./models.js";

test("[forgotten-untold] over HTTP: a session is not found any more by words that were forgotten, nor is a fork of it", async () => {
  const world = await startWorld(await tempDir());
  const guest = world.as("ada");
  const { session_id: id } = await guest.say("I'm allergic to sumberries and I like jazz.");
  const found = async () => (await guest.get<{ data: Session[] }>("/v1/sessions?title=sumberries")).body.data.length;
  expect(await found()).toBe(1);
  await guest.post(`/v1/sessions/${id}/flush`);
  const { body } = await guest.get<{ data: Memory[] }>("/v1/memories");
  const memory = body.data.find(({ text }) => text.includes("sumberries"));
  expect(await guest.request("DELETE", `/v1/memories/${memory?.id}`)).toMatchObject({ status: 204 });
  await eventually(found).toBe(0);
  const { body: thread } = await guest.get<{ data: { id: string }[] }>(`/v1/sessions/${id}/messages`);
  await guest.post(`/v1/sessions/${id}/fork`, { message_id: thread.data[0]?.id });
  expect(await found()).toBe(0);
  const { body: listed } = await guest.get<{ data: Session[] }>("/v1/sessions");
  expect(listed.data.map(({ title }) => title)).toEqual(["New conversation", "New conversation"]);
});
