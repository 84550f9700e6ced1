import { expect, test } from "vitest";
import { ownerOf } from "../../src/domain/owner.js";
import type { Session } from "../../src/domain/session.js";
import { startWorld, tempDir, type World } from "../e2e/world.js";

const ADA = ownerOf("default", "ada");
const merging = (world: World) => world.application.identities;
const merge = (world: World) => merging(world).merge({ from: "visitor", to: "ada" });

interface Said {
  readonly id: string;
  readonly role: string;
  readonly content: string;
}

async function opened() {
  const world = await startWorld(await tempDir());
  const [visitor, ada] = [world.as("visitor"), world.as("ada")];
  const sessions = async (status = "active") => (await ada.get<{ data: Session[] }>(`/v1/sessions?limit=200&status=${status}`)).body.data;
  const session = async (id: string) => ada.get<Session>(`/v1/sessions/${id}`);
  const said = async (id: string) => (await ada.get<{ data: Said[] }>(`/v1/sessions/${id}/messages`)).body.data;
  const fork = async (id: string) => {
    const answer = await ada.post<{ id: string }>(`/v1/sessions/${id}/fork`, { message_id: (await said(id))[0]?.id });
    expect(answer.status).toBe(201);
    return answer.body.id;
  };
  /** All that is kept of ada's sessions, whatever their status and whatever was taken back. */
  const kept = async () => {
    const records: unknown[] = [];
    const { journal, index } = world.application.parts.store;
    for (const status of ["active", "archived", "deleted"] as const)
      for (const each of (await index.list(ADA, { status, limit: 200 })).data) {
        records.push(each);
        for await (const record of journal.read(ADA, each.id, { includeRewound: true, includeTorn: true })) records.push(record);
      }
    return JSON.stringify(records);
  };
  return { world, visitor, ada, sessions, session, said, fork, kept };
}

test("[merge-undone] forks of forks, archived ones and those in the trash lose the visitor's words with an undo; one that goes on keeps its own", async () => {
  const { world, visitor, ada, session, said, fork, sessions, kept } = await opened();
  const first = await visitor.say("I prefer zithern concerts.");
  const { merge_id } = await merge(world);
  const copy = (await sessions())[0]?.id ?? "";
  expect((await session(first.session_id)).body.id).toBe(copy);
  const child = await fork(copy);
  const [grandchild, archived, trashed, goesOn] = [await fork(child), await fork(child), await fork(copy), await fork(child)];
  await ada.request("PATCH", `/v1/sessions/${archived}`, { status: "archived" });
  await ada.say("Good evening to you all.", { session_id: goesOn });
  await ada.request("PATCH", `/v1/sessions/${goesOn}`, { status: "archived" });
  expect((await ada.delete(`/v1/sessions/${trashed}`)).status).toBe(204);
  await merging(world).undo(merge_id);
  for (const id of [copy, child, grandchild, archived, trashed]) expect((await session(id)).status).toBe(404);
  expect((await session(goesOn)).body).toMatchObject({ status: "archived", message_count: 2, title: "Good evening to you all." });
  expect((await said(goesOn)).map(({ content }) => content)[0]).toBe("Good evening to you all.");
  expect(await kept()).not.toMatch(/zithern/i);
  const found = await ada.post<{ data: Said[] }>("/v1/history/search", { query: "good evening zithern" });
  expect(found.body.data.map(({ content }) => content).filter((content) => /zithern/i.test(content))).toEqual([]);
  expect(found.body.data.map(({ content }) => content)).toContain("Good evening to you all.");
  // Said in it since it was taken out.
  await ada.request("PATCH", `/v1/sessions/${goesOn}`, { status: "active" });
  await ada.say("And good night.", { session_id: goesOn });
  expect((await session(goesOn)).body.message_count).toBe(4);
}, 120_000);

test("[merge-undone] names and metadata that the visitor gave go from copies and forks that go on; those that ada gave stay", async () => {
  const { world, visitor, ada, session, said, fork, kept } = await opened();
  const made = await visitor.post<Session>("/v1/sessions", {
    title: "Zithern trip",
    metadata: { instrument: "zithern", time_zone: "Europe/Vienna" },
  });
  const id = made.body.id;
  await visitor.say("I prefer zithern concerts.", { session_id: id });
  await visitor.request("PATCH", `/v1/sessions/${id}`, { topic: "Zitherns", tags: ["zithern"] });
  const { merge_id } = await merge(world);
  const copy = (await session(id)).body.id;
  await ada.request("PATCH", `/v1/sessions/${copy}`, { metadata: { colour: "blue" } });
  const [child, named] = [await fork(copy), await fork(copy)];
  expect((await session(child)).body).toMatchObject({
    title: "Zithern trip",
    topic: "Zitherns",
    metadata: { instrument: "zithern", colour: "blue" },
  });
  for (const each of [copy, child, named]) await ada.say("Good evening to you all.", { session_id: each });
  await ada.request("PATCH", `/v1/sessions/${named}`, { title: "Mine", tags: ["own"] });
  const grandchild = await ada.post<{ id: string }>(`/v1/sessions/${named}/fork`, { message_id: (await said(named)).at(-1)?.id });
  await merging(world).undo(merge_id);
  const metadata = { colour: "blue", time_zone: "Europe/Vienna" };
  for (const each of [copy, child])
    expect((await session(each)).body).toMatchObject({ title: "Good evening to you all.", topic: null, tags: [], metadata });
  expect((await session(named)).body).toMatchObject({ title: "Mine", tags: ["own"], metadata });
  expect((await session(grandchild.body.id)).body).toMatchObject({ title: "Mine", tags: ["own"], metadata, message_count: 2 });
  expect((await session(copy)).body.metadata).not.toHaveProperty("instrument");
  expect(await kept()).not.toMatch(/zithern/i);
}, 120_000);

test("[merge-undone] what ada's own turns were given of the visitor's memories goes with an undo, and what she said stays", async () => {
  const { world, visitor, ada, session, kept } = await opened();
  await visitor.say("I prefer zithern concerts.");
  const own = await ada.say("Good evening to you all.");
  const { merge_id } = await merge(world);
  const next = await ada.say("Anything good this weekend?", { session_id: own.session_id });
  expect(next.memory.recalled.map(({ text }) => text).join()).toMatch(/zithern/i);
  await merging(world).undo(merge_id);
  expect((await session(own.session_id)).body).toMatchObject({ message_count: 4 });
  expect((await kept()).replace(JSON.stringify(next.message.content).slice(1, -1), "")).not.toMatch(/zithern/i);
}, 120_000);

test("[merge-undone] a fork that is made while its merge is undone has the visitor's words no more, whichever comes first", async () => {
  const { world, visitor, ada, sessions, said, kept } = await opened();
  await visitor.say("I prefer zithern concerts.");
  const { merge_id } = await merge(world);
  const copy = (await sessions())[0]?.id ?? "";
  const message = (await said(copy))[0]?.id;
  const forks = Array.from({ length: 12 }, () => ada.post<{ id: string }>(`/v1/sessions/${copy}/fork`, { message_id: message }));
  const [undone, ...answers] = await Promise.all([merging(world).undo(merge_id), ...forks]);
  expect(undone.state).toBe("undone");
  expect(answers.map(({ status }) => status).filter((status) => status !== 201 && status !== 404)).toEqual([]);
  expect(await sessions()).toEqual([]);
  expect(await kept()).not.toMatch(/zithern/i);
}, 120_000);
