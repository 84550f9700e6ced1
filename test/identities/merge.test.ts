import { createHash, randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Memory } from "../../src/domain/memory.js";
import type { Session } from "../../src/domain/session.js";
import type { Merge } from "../../src/ports/identities.js";
import { type Answer, startWorld, tempDir, type World } from "../e2e/world.js";

const SAID = "I prefer jazz concerts, and I need step-free access.";

interface Shop {
  readonly world: World;
  /** What a backend of the tenant asks for: without a user of its own. */
  backend<T = Merge>(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer<T>>;
  as(user: string, tenant?: string): ReturnType<World["as"]>;
  merge(from: string, to: string): Promise<Merge>;
  undo(merge: Merge): Promise<Merge>;
}

/** A server with a trusted backend of two tenants. */
async function openShop(dir?: string): Promise<Shop> {
  const at = dir ?? (await tempDir());
  const keys = { default: randomBytes(8).toString("hex"), other: randomBytes(8).toString("hex") };
  const file = join(at, "keys.json");
  const hash = (key: string) => createHash("sha256").update(key).digest("hex");
  await writeFile(file, JSON.stringify(Object.entries(keys).map(([tenant, key]) => ({ sha256: hash(key), tenant, user: null }))));
  const world = await startWorld(at, { AUTH_MODE: "api-key", API_KEYS_FILE: file });
  const signed = (user: string, tenant: keyof typeof keys) => {
    const client = world.as(user);
    const headers = { Authorization: `Bearer ${keys[tenant]}` };
    const request: typeof client.request = (method, path, body, more) => client.request(method, path, body, { ...headers, ...more });
    return {
      ...client,
      request,
      get: ((path) => request("GET", path)) as typeof client.get,
      post: ((path, body, more) => request("POST", path, body, more)) as typeof client.post,
      delete: ((path) => request("DELETE", path)) as typeof client.delete,
      say: async (message: string, more: object = {}) => {
        const { body, status, text } = await request<Awaited<ReturnType<typeof client.say>>>("POST", "/v1/chat", { message, ...more });
        if (status !== 200) throw new Error(`The turn was answered with ${status}: ${text}`);
        await request("POST", `/v1/sessions/${body.session_id}/flush?timeout_ms=20000`);
        return body;
      },
    };
  };
  const backend: Shop["backend"] = (method, path, body, more) => signed("", "default").request(method, path, body, more);
  const done = async (answer: Promise<Answer<Merge>>, status: number) => {
    const given = await answer;
    if (given.status !== status) throw new Error(`${given.status}: ${given.text}`);
    return given.body;
  };
  return {
    world,
    backend,
    as: (user, tenant = "default") => signed(user, tenant as keyof typeof keys),
    merge: (from, to) => done(backend("POST", "/v1/identities/merge", { from, to }), 202),
    undo: ({ merge_id }) => done(backend("POST", `/v1/identities/merge/${merge_id}/undo`), 200),
  };
}

const textsOf = async (client: ReturnType<Shop["as"]>) => {
  const { body } = await client.get<{ data: Memory[] }>("/v1/memories?limit=200&status=active");
  return body.data.map(({ text }) => text).sort();
};
const sessionsOf = async (client: ReturnType<Shop["as"]>) =>
  (await client.get<{ data: Session[] }>("/v1/sessions?limit=200")).body.data.map(({ title }) => title).sort();

test("what a visitor said is known of who they turn out to be, once; their session goes on by its old id, and they are that user", async () => {
  const shop = await openShop();
  const [visitor, ada] = [shop.as("visitor"), shop.as("ada")];
  const first = await visitor.say(SAID);
  await ada.say("I prefer jazz concerts.");
  await ada.post("/v1/memories", { text: "Likes window seats", category: "seating" });
  const merge = await shop.merge("visitor", "ada");
  expect(merge).toMatchObject({ from: "visitor", to: "ada", state: "merged" });
  const texts = await textsOf(ada);
  expect(texts).toHaveLength(3);
  expect(texts).toEqual([expect.stringMatching(/window/i), expect.stringMatching(/step-free/i), expect.stringMatching(/jazz/i)].sort());
  expect(await textsOf(visitor)).toEqual(texts);
  expect(await sessionsOf(ada)).toHaveLength(2);
  expect((await visitor.get<{ user: { id: string } }>("/v1/me")).body.user.id).toBe("ada");
  for (const client of [visitor, ada]) {
    const { body, status } = await client.get<{ data: { content: string }[] }>(`/v1/sessions/${first.session_id}/messages`);
    expect(status).toBe(200);
    expect(body.data[0]?.content).toBe(SAID);
    const hits = await client.post<{ data: { content: string }[] }>("/v1/history/search", { query: "step-free access" });
    expect(hits.body.data.filter(({ content }) => content === SAID)).toHaveLength(1);
  }
  const next = await visitor.say("Anything good this weekend?", { session_id: first.session_id });
  expect(next.memory.recalled.map(({ category }) => category)).toEqual(expect.arrayContaining(["accessibility", "genre"]));
  expect(next.turn).toBe(2);
  expect(await shop.merge("visitor", "ada")).toEqual(merge);
  expect(await textsOf(ada)).toEqual(texts);

  const undone = await shop.undo(merge);
  expect(undone).toEqual({ ...merge, state: "undone" });
  expect(await textsOf(visitor)).toHaveLength(2);
  expect(await textsOf(ada)).toEqual([expect.stringMatching(/window/i), expect.stringMatching(/jazz/i)].sort());
  expect((await visitor.get(`/v1/sessions/${first.session_id}`)).body).toMatchObject({ message_count: 2 });
  // What was said as ada stays ada's.
  const kept = await ada.get<{ data: { content: string }[] }>(`/v1/sessions/${next.session_id}/messages`);
  expect(kept.body.data.map(({ content }) => content)).toEqual(["Anything good this weekend?", next.message.content]);
  expect((await ada.get(`/v1/sessions/${first.session_id}`)).status).toBe(404);
});
