import { expect, test } from "vitest";
import { maintenanceOf } from "../../src/cli/maintenance-of.js";
import { ownerOf } from "../../src/domain/owner.js";
import { createMaitred, type Maitred } from "../../src/index.js";
import { startWorld, tempDir } from "../e2e/world.js";

async function opened(): Promise<Maitred> {
  return createMaitred({ memoryStorageDir: await tempDir(), embeddingProvider: "hashing", recallDeadlineMs: 10_000 });
}

const contentsOf = (messages: readonly { readonly content: string }[]) => messages.map(({ content }) => content);

test("[merge-whole] a handle that is kept across a merge and its undo is each time who its user is by then, whatever it is asked", async () => {
  const maitred = await opened();
  try {
    const [visitor, ada] = [maitred.for("visitor"), maitred.for("ada")];
    const { session_id } = await visitor.chat("I prefer jazz concerts.");
    await visitor.sessions.flush(session_id, { timeoutMs: 20_000 });
    const { merge_id } = await maitred.identities.merge({ from: "visitor", to: "ada" });

    expect(await maitred.owner("visitor")).toBe(ada.owner);
    // By an id of before, each in its own way.
    const [now] = (await ada.sessions.list()).data;
    expect(now?.id).not.toBe(session_id);
    expect((await visitor.sessions.get(session_id)).id).toBe(now?.id);
    expect((await visitor.sessions.update(session_id, { tags: ["music"] })).id).toBe(now?.id);
    expect((await visitor.sessions.thread(session_id)).session.tags).toEqual(["music"]);
    const [said] = (await visitor.sessions.messages(session_id)).data;
    expect(said?.content).toBe("I prefer jazz concerts.");
    const fork = await visitor.sessions.fork(session_id, said?.id ?? "");
    expect(contentsOf((await ada.sessions.messages(fork.id)).data)[0]).toBe("I prefer jazz concerts.");
    expect((await visitor.memories.list({ sessionId: session_id })).data).toHaveLength(1);
    expect(await visitor.history.search("jazz concerts", { sessionId: session_id, role: "user" })).toHaveLength(1);
    await visitor.add([{ role: "user", content: "I always sit by the aisle." }], { sessionId: session_id });
    expect((await visitor.context("seats", { sessionId: session_id })).text).toContain("User: I prefer jazz concerts.");
    const answer = await visitor.chat("Anything good this weekend?", { sessionId: session_id });
    expect(answer.session_id).toBe(now?.id);
    await visitor.sessions.flush(session_id, { timeoutMs: 20_000 });
    expect(await visitor.memories.list()).toEqual(await ada.memories.list());
    let exported = "";
    for await (const piece of visitor.export()) exported += piece;
    expect(JSON.parse(exported)).toMatchObject({ sessions: { length: 2 } });
    await visitor.sessions.archive(session_id);
    await visitor.sessions.delete(session_id);
    expect((await visitor.sessions.restore(session_id)).status).toBe("archived");

    await maitred.identities.undo(merge_id);
    expect(await maitred.owner("visitor")).toBe(visitor.owner);
    expect(contentsOf((await visitor.sessions.messages(session_id)).data)[0]).toBe("I prefer jazz concerts.");
    expect((await visitor.chat("Good evening.", { sessionId: session_id })).session_id).toBe(session_id);
    await expect(ada.sessions.get(session_id)).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
  } finally {
    await maitred.close();
  }
}, 120_000);

test("[merge-whole] an owner that is kept across a merge writes nothing as somebody who is nobody any more", async () => {
  const maitred = await opened();
  try {
    const stale = await maitred.owner("visitor");
    const { session_id } = await maitred.for("visitor").chat("I prefer jazz concerts.");
    await maitred.identities.merge({ from: "visitor", to: "ada" });
    const refused = { code: "OWNER_ERASED" };
    await expect(maitred.memories.add(stale, { text: "Likes opera" }, { now: new Date() })).rejects.toMatchObject(refused);
    await expect(maitred.sessions.create(stale, {})).rejects.toMatchObject(refused);
    await expect(maitred.sessions.patch(stale, session_id, { title: "Jazz" })).rejects.toMatchObject(refused);
    await expect(
      maitred.ownAgent.addMessages({ owner: stale, sessionId: session_id, messages: [{ role: "user", content: "Hello." }] }),
    ).rejects.toMatchObject(refused);
    // A turn asks by itself.
    const answer = await maitred.chat.chat({ owner: stale, sessionId: session_id, message: "Good evening." });
    expect((await maitred.for("ada").sessions.get(answer.session_id)).message_count).toBe(4);
  } finally {
    await maitred.close();
  }
}, 120_000);

test("[merge-whole] [erasure-complete] an owner that is kept across a merge is exported and erased as who they turned out to be", async () => {
  const maitred = await opened();
  try {
    const stale = await maitred.owner("visitor");
    const ada = maitred.for("ada");
    await ada.memories.add("Likes opera");
    await maitred.for("visitor").chat("I prefer jazz concerts.");
    await maitred.identities.merge({ from: "visitor", to: "ada" });
    let exported = "";
    for await (const piece of maitred.privacy.export(stale, { by: "a person" })) exported += piece;
    expect(exported).toContain("Likes opera");
    expect(await maitred.privacy.erase(stale, { by: "a person" })).toMatchObject({ verified: true });
    expect((await ada.memories.list()).data).toEqual([]);
    expect((await ada.sessions.list()).data).toEqual([]);
  } finally {
    await maitred.close();
  }
}, 120_000);

test("[merge-whole] what is read of a user's journals once more is read as who they turned out to be, by either name", async () => {
  const world = await startWorld(await tempDir(), { MEM0_ENABLED: "false" });
  const { session_id } = await world.as("visitor").say("I prefer jazz concerts.");
  await world.application.identities.merge({ from: "visitor", to: "ada" });
  await world.stop();
  const later = await startWorld(world.dir);
  const promote = (user: string) =>
    maintenanceOf(later.application.parts).promote({
      owner: ownerOf("default", user),
      signal: new AbortController().signal,
      onProgress: () => {},
    });
  expect(await promote("visitor")).toMatchObject({ messages: 1, stored: 1, failed_sessions: 0 });
  expect(await promote("ada")).toMatchObject({ messages: 0 });
  const [jazz] = (await later.application.memories.list(ownerOf("default", "ada"), {})).data;
  const now = (await later.as("ada").get<{ id: string }>(`/v1/sessions/${session_id}`)).body.id;
  expect(jazz).toMatchObject({ text: expect.stringMatching(/jazz/), source: { session_id: now } });
}, 120_000);
