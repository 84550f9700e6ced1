import { expect } from "vitest";
import type { Memory } from "../../src/domain/memory.js";
import type { Message, Session } from "../../src/domain/session.js";
import type { ChatAnswer } from "../../src/ports/resources.js";
import type { Client } from "./world.js";

/** A word of its own for each way in which a guest's words can come in. */
export const CANARIES = {
  said: "Zanthorix",
  emoji: "Brümmelfox 🦊 سلام",
  title: "Quellnaster",
  tag: "Vorpelgrin",
  metadata: "Ixtabulor",
  page: "Mubbelwhisk",
  toolInput: "Tharvolane",
  companion: "Ysolbret",
  byHand: "Grunkelfip",
  edited: "Plonsterwick",
  takenBack: "Drezzilome",
  archived: "Kwibbernaut",
  forked: "Snorvelquit",
  deleted: "Fennigrolt",
  incognito: "Hobbeltrix",
  imported: "Wexlindorf",
  importedName: "Jarrumpel",
  importedMetadata: "Lirumquax",
  externalId: "Obbentrop",
  promoted: "Cassenvire",
  idempotencyKey: "Nurgelspat",
  channel: "Trillowen",
} as const;

const C = CANARIES;

/** Everything that a guest can do which leaves words behind. Returns the sessions by what happened to them. */
export async function liveAWholeLife(guest: Client) {
  const first = await guest.say(`I prefer the ${C.said} jazz trio. I need step-free access.`, {
    metadata: { note: C.metadata },
    page_context: { looking_at: `The ${C.page} page` },
    channel: C.channel,
  });
  const main = first.session_id;
  await guest.say(`My favourite band is ${C.emoji}, and I always sit on the aisle.`, { session_id: main });
  await guest.say(`My mother ${C.companion} is vegan.`, { session_id: main });
  await guest.say(`Is there anything by ${C.toolInput}?`, { session_id: main });
  const found = await guest.say("Any concerts next week?", { session_id: main });
  expect(found.steps.map(({ name }) => name)).toContain("search_events");
  await guest.say("Book two of the first one.", { session_id: main });
  const booked = await guest.say("Yes, please book it.", { session_id: main });
  expect(JSON.stringify(booked.steps)).toContain("MD-");
  await keyed(guest, main);
  await edit(guest, main);
  for (const [path, body] of [["", { title: `A night of ${C.title}`, tags: [C.tag] }]] as const)
    expect((await guest.request("PATCH", `/v1/sessions/${main}${path}`, body)).status).toBe(200);

  const byHand = await guest.post<Memory>("/v1/memories", { text: `Collects ${C.byHand} stamps`, category: "other" });
  expect(byHand.status).toBe(201);
  const changed = await guest.request("PATCH", `/v1/memories/${byHand.body.id}`, { text: `Collects ${C.edited} stamps` });
  expect(changed.status).toBe(200);

  const archived = (await guest.say(`I saw the ${C.archived} play in March, and I loved it.`)).session_id;
  expect((await guest.request("PATCH", `/v1/sessions/${archived}`, { status: "archived" })).status).toBe(200);

  const toFork = (await guest.say(`Tell me of ${C.forked} tonight.`)).session_id;
  const messages = await guest.get<{ data: Message[] }>(`/v1/sessions/${toFork}/messages`);
  const fork = await guest.post<Session>(`/v1/sessions/${toFork}/fork`, { message_id: messages.body.data[1]?.id });
  expect(fork.status).toBe(201);
  expect((await guest.request("PATCH", `/v1/sessions/${fork.body.id}`, { status: "archived" })).status).toBe(200);

  const deleted = (await guest.say(`I once met ${C.deleted} in Rome.`)).session_id;
  expect((await guest.delete(`/v1/sessions/${deleted}`)).status).toBe(204);
  const secret = await guest.say(`Between us: ${C.incognito}.`, { metadata: { incognito: true } });

  const lines = [
    { session_id: C.externalId, role: "user", content: `I dislike ${C.promoted} musicals.`, created_at: "2026-01-05T10:00:00Z" },
    { session_id: C.externalId, role: "assistant", content: `Noted: ${C.imported}.`, created_at: "2026-01-05T10:00:05Z" },
    {
      session_id: C.externalId,
      role: "user",
      content: "And thank you.",
      name: C.importedName,
      message_id: "their-own-1",
      metadata: { from: C.importedMetadata },
    },
  ];
  const imported = await guest.post("/v1/import?extract=true", lines.map((line) => JSON.stringify(line)).join("\n"), {
    "Content-Type": "application/x-ndjson",
  });
  expect(imported).toMatchObject({ status: 200, body: { sessions: 1, messages: 3 } });
  return { main, archived, fork: fork.body.id, forkOf: toFork, deleted, incognito: secret.session_id };
}

async function keyed(guest: Client, session: string): Promise<void> {
  const body = { message: "And what is on in Vienna?", session_id: session };
  const once = await guest.post<ChatAnswer>("/v1/chat", body, { "Idempotency-Key": `${C.idempotencyKey}-1` });
  const again = await guest.post<ChatAnswer>("/v1/chat", body, { "Idempotency-Key": `${C.idempotencyKey}-1` });
  expect(again.body.message).toEqual(once.body.message);
}

async function edit(guest: Client, session: string): Promise<void> {
  await guest.say(`Tell me of ${C.takenBack}.`, { session_id: session });
  const last = await guest.get<{ data: Message[] }>(`/v1/sessions/${session}/messages?order=desc&limit=2`);
  await guest.say("Tell me of something else.", { session_id: session, edit_of: last.body.data[1]?.id });
}
