import { createHash, randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Memory } from "../../src/domain/memory.js";
import type { Session } from "../../src/domain/session.js";
import type { Merge } from "../../src/ports/identities.js";
import { type Answer, startWorld, tempDir, type World } from "../e2e/world.js";

export interface Shop {
  readonly world: World;
  /** What a backend of the tenant asks for: without a user of its own. */
  backend<T = Merge & { readonly code: string }>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer<T>>;
  as(user: string, tenant?: string): ReturnType<World["as"]>;
  merge(from: string, to: string): Promise<Merge>;
  undo(merge: Merge): Promise<Merge>;
}

/** A server with trusted backends of two tenants. */
export async function openShop(dir?: string): Promise<Shop> {
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

export const textsOf = async (client: ReturnType<Shop["as"]>) => {
  const { body } = await client.get<{ data: Memory[] }>("/v1/memories?limit=200&status=active");
  return body.data.map(({ text }) => text).sort();
};
export const sessionsOf = async (client: ReturnType<Shop["as"]>) =>
  (await client.get<{ data: Session[] }>("/v1/sessions?limit=200")).body.data.map(({ title }) => title).sort();
