import { createHash } from "node:crypto";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Overrides } from "../../src/compose/compose.js";
import type { MessageImage } from "../../src/domain/image.js";
import { ownerOf } from "../../src/domain/owner.js";
import type { Message, Session } from "../../src/domain/session.js";
import { newId } from "../../src/platform/ids.js";
import type { ImportResult, Thread } from "../../src/ports/application.js";
import type { ChatAnswer, ErasureReceipt } from "../../src/ports/resources.js";
import { SqliteEngine } from "../../src/state/engines/sqlite/sqlite-engine.js";
import { ownerPartition, systemPartition } from "../../src/state/partition.js";
import { type Client, filesHolding, openWorld, startWorld, tempDir, type World } from "../e2e/world.js";
import { parseEvents } from "../support/http-client.js";
import { type ChatBody, OpenAIStub } from "../support/openai-stub.js";
import { PNG } from "../support/samples.js";
import { TestClock } from "../support/session-world.js";

const CANARY = "Quillfeather";
/** Bytes that begin as a PNG does. */
const picture = (text = CANARY) => Buffer.concat([PNG, Buffer.from(text)]);
const idOf = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");
const base64 = picture().toString("base64");
const kept = { id: idOf(picture()), media_type: "image/png", bytes: picture().byteLength };
const ADDRESS = "https://pictures.example/hall.jpg";

type Problem = { readonly code: string; readonly errors: readonly { readonly pointer: string }[] };
type Exported = { sessions: { messages: { images?: (MessageImage & { data?: string })[] }[] }[] };

/** The whole product with a model that sees, over loopback. */
async function seeingWorld(variables: Readonly<Record<string, string>> = {}, overrides: Overrides = {}) {
  const stub = await OpenAIStub.open();
  onTestFinished(() => stub.close());
  stub.chatOtherwise((body) => (body.response_format ? { text: '{"operations":[]}' } : { text: "I see." }));
  const dir = await tempDir();
  const embedder = { EMBEDDING_PROVIDER: "hashing" };
  const world = await startWorld(dir, { OPENAI_BASE_URL: stub.url, OPENAI_API_KEY: "k", ...embedder, ...variables }, overrides);
  return { world, stub, dir, alice: world.as("alice"), bob: world.as("bob") };
}

const bodiesOf = (stub: OpenAIStub) =>
  stub.requests.filter(({ path }) => path.endsWith("/chat/completions")).map(({ body }) => body as ChatBody);
/** What was asked of the model for the answer, not for what follows it. */
const asked = (stub: OpenAIStub) => bodiesOf(stub).filter(({ tools }) => tools !== undefined);
const say = (client: Client, message: string, images?: readonly object[], more: object = {}) => client.say(message, { images, ...more });
const imagesOf = ({ application }: World) => application.parts.store.images.residue(ownerOf("default", "alice"));
const imagePath = (session: string, id = kept.id) => `/v1/sessions/${session}/images/${id}`;

describe("a message with images", () => {
  test("is shown to the model in its turn, and told of by number in later ones", async () => {
    const { stub, alice } = await seeingWorld();
    const { session_id } = await say(alice, "Which hall is this?", [{ data: base64, media_type: "image/jpeg" }, { url: ADDRESS }]);
    await say(alice, "And who plays there?", undefined, { session_id });
    const [first, second] = asked(stub);
    expect(first?.messages.at(-1)?.content).toEqual([
      { type: "text", text: expect.stringContaining("Which hall is this?") },
      { type: "image_url", image_url: { url: `data:image/png;base64,${base64}` } },
      { type: "image_url", image_url: { url: ADDRESS } },
    ]);
    expect(JSON.stringify(second?.messages)).not.toMatch(new RegExp(`${base64.slice(0, 20)}|image_url`));
    expect(second?.messages.map(({ content }) => content)).toContain("Which hall is this?\n\n[2 images]");
  });

  test("[only-users-words] is read for memories and searched by its text alone", async () => {
    const { stub, alice } = await seeingWorld();
    const { session_id } = await say(alice, "I prefer halls like this.", [{ data: base64 }, { url: ADDRESS }]);
    const others = bodiesOf(stub).filter(({ tools }) => tools === undefined);
    expect(others.length).toBeGreaterThan(0);
    expect(JSON.stringify(others)).not.toMatch(new RegExp(`${base64.slice(0, 20)}|${ADDRESS}|image_url`));
    const found = await alice.get<{ data: { content: string; session_id: string }[] }>("/v1/history/search?q=halls");
    expect(found.body.data).toContainEqual(expect.objectContaining({ session_id, content: "I prefer halls like this." }));
    expect(found.text).not.toContain(kept.id);
  });

  test("names them in thread and messages, and gives them to their owner alone, as nothing but an image", async () => {
    const { alice, bob } = await seeingWorld();
    const { session_id } = await say(alice, "Which hall is this?", [{ url: `data:image/gif;base64,${base64}` }, { url: ADDRESS }]);
    const images = [kept, { id: idOf(ADDRESS), media_type: null, bytes: null, url: ADDRESS }];
    const thread = await alice.get<Thread>(`/v1/sessions/${session_id}/thread`);
    expect(thread.body.steps[0]).toMatchObject({ type: "user_message", images });
    const messages = await alice.get<{ data: Message[] }>(`/v1/sessions/${session_id}/messages`);
    expect(messages.body.data.map((message) => message.images)).toEqual([images, undefined]);

    const { status, headers, text } = await alice.get(imagePath(session_id));
    expect([status, headers.get("Content-Type"), text.endsWith(CANARY)]).toEqual([200, "image/png", true]);
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-security-policy": "default-src 'none'; sandbox",
      "x-content-type-options": "nosniff",
      "content-disposition": `inline; filename="${kept.id.slice(0, 12)}.png"`,
      "cache-control": "private, max-age=3600",
    });
    expect(await bob.get(imagePath(session_id))).toMatchObject({ status: 404, body: { code: "SESSION_NOT_FOUND" } });
    for (const id of [idOf(ADDRESS), "ab".repeat(32)])
      expect(await alice.get(imagePath(session_id, id))).toMatchObject({ status: 404, body: { code: "IMAGE_NOT_FOUND" } });
    expect(await alice.get(imagePath(session_id, "x"))).toMatchObject({ status: 400, body: { code: "INVALID_ID" } });
    // The same image in a session of Bob's is Bob's own.
    const his = await say(bob, "And this?", [{ data: base64 }]);
    expect((await bob.get(imagePath(his.session_id))).status).toBe(200);
    expect((await alice.get(imagePath(his.session_id))).status).toBe(404);
  });

  test("[turn-once] is the same request with the same images, and another with others", async () => {
    const { stub, alice } = await seeingWorld();
    const key = { "Idempotency-Key": "hall-1" };
    const post = (images: readonly object[]) => alice.post<ChatAnswer & Problem>("/v1/chat", { message: "Which?", images }, key);
    const first = await post([{ data: base64 }]);
    expect((await post([{ url: `data:image/png;base64,${base64}` }])).body).toEqual(first.body);
    expect(await post([{ data: picture("another").toString("base64") }])).toMatchObject({
      status: 422,
      body: { code: "IDEMPOTENCY_KEY_REUSED" },
    });
    expect(await post([])).toMatchObject({ status: 422 });
    expect(asked(stub)).toHaveLength(1);
  });

  test("that is said again differently has its own images or none", async () => {
    const { stub, alice } = await seeingWorld();
    const { session_id } = await say(alice, "Which hall?", [{ data: base64 }]);
    const [user] = (await alice.get<{ data: Message[] }>(`/v1/sessions/${session_id}/messages`)).body.data;
    await say(alice, "Which house?", undefined, { session_id, edit_of: user?.id });
    expect(typeof asked(stub).at(-1)?.messages.at(-1)?.content).toBe("string");
    const { body } = await alice.get<{ data: Message[] }>(`/v1/sessions/${session_id}/messages`);
    expect(body.data.map(({ content, images }) => [content, images])).toEqual([
      ["Which house?", undefined],
      ["I see.", undefined],
    ]);
  });
});

describe("what is refused, with nothing written", () => {
  const large = Buffer.concat([PNG, Buffer.alloc(5 * 1024 * 1024)]).toString("base64");
  const refusals: readonly (readonly [string, readonly unknown[], number, string])[] = [
    ["five images", Array(5).fill({ data: base64 }), 400, "INVALID_REQUEST"],
    ["one over 5 MiB", [{ data: large }], 413, "PAYLOAD_TOO_LARGE"],
    [
      "a PDF that is said to be a PNG",
      [{ data: Buffer.from("%PDF-1.7 …").toString("base64"), media_type: "image/png" }],
      400,
      "INVALID_IMAGE",
    ],
    ["an SVG", [{ url: `data:image/svg+xml;base64,${Buffer.from("<svg/>").toString("base64")}` }], 400, "INVALID_IMAGE"],
    ["what is no base64", [{ data: "§§§§" }], 400, "INVALID_IMAGE"],
    ["an empty one", [{ data: "" }], 400, "INVALID_IMAGE"],
    ["a data URL in plain text", [{ url: "data:image/png,abc" }], 400, "INVALID_IMAGE"],
    ["http", [{ url: "http://pictures.example/hall.jpg" }], 400, "INVALID_IMAGE"],
    ["another protocol", [{ url: "file:///etc/passwd" }], 400, "INVALID_IMAGE"],
    ["credentials in an address", [{ url: "https://me:secret@pictures.example/hall.jpg" }], 400, "INVALID_IMAGE"],
    ["the address of a machine", [{ url: "https://169.254.169.254/latest" }], 400, "INVALID_IMAGE"],
    ["one in hexadecimal", [{ url: "https://0x7f000001/" }], 400, "INVALID_IMAGE"],
    ["one of version 6", [{ url: "https://[::1]/" }], 400, "INVALID_IMAGE"],
    ["a name of a local network", [{ url: "https://metadata.google.internal/" }], 400, "INVALID_IMAGE"],
    ["an address of 3,000 characters", [{ url: `https://pictures.example/${"a".repeat(3_000)}` }], 400, "INVALID_IMAGE"],
    ["both an address and data", [{ url: ADDRESS, data: base64 }], 400, "INVALID_REQUEST"],
    ["neither", [{}], 400, "INVALID_REQUEST"],
  ];

  test("[hostile-input] each by its code and place", async () => {
    const { alice, stub, world } = await seeingWorld();
    for (const [what, images, status, code] of refusals) {
      const refused = await alice.post<Problem>("/v1/chat", { message: "Which?", images });
      expect([what, refused.status, refused.body.code]).toEqual([what, status, code]);
      if (code !== "INVALID_REQUEST")
        expect([what, refused.body.errors[0]?.pointer]).toEqual([what, expect.stringMatching(/^\/images\/0/)]);
    }
    expect((await alice.get<{ data: Session[] }>("/v1/sessions")).body.data).toEqual([]);
    expect([stub.requests.length, await imagesOf(world)]).toEqual([0, 0]);
  });

  test("what is no image stays as bounded as on every route [limits-hold]", async () => {
    const { alice } = await seeingWorld();
    const message = 'Five" wide';
    // Past the size of other bodies, with quotation marks in the message: four images fit.
    const images = [0, 1, 2, 3].map((n) => ({ data: Buffer.concat([PNG, Buffer.alloc(300_000, n)]).toString("base64") }));
    expect((await alice.post("/v1/chat", { message, images })).status).toBe(200);
    const filler = "x".repeat(300_000);
    for (const body of [
      { message: filler },
      { message, data: `${filler}"` },
      { message, metadata: { a: filler } },
      { message, images: [{ [filler]: 1 }] },
    ])
      expect(await alice.post("/v1/chat", body)).toMatchObject({ status: 413, body: { code: "PAYLOAD_TOO_LARGE" } });
    expect((await alice.post("/v1/memories", { text: "x", data: filler })).status).toBe(413);
  });

  test("any image, by the stand-in", async () => {
    const world = await startWorld(await tempDir());
    const alice = world.as("alice");
    const refused = await alice.post<Problem>("/v1/chat", { message: "Which hall is this?", images: [{ data: base64 }] });
    expect(refused).toMatchObject({ status: 400, body: { code: "IMAGES_NOT_SUPPORTED", hint: expect.stringContaining("LLM_VISION") } });
    expect((await alice.get<{ data: Session[] }>("/v1/sessions")).body.data).toEqual([]);
    expect(await imagesOf(world)).toBe(0);
  });

  test("any image, with LLM_VISION=off", async () => {
    const { alice, stub } = await seeingWorld({ LLM_VISION: "off" });
    expect(await alice.post("/v1/chat", { message: "Which?", images: [{ url: ADDRESS }] })).toMatchObject({ status: 400 });
    expect(stub.requests).toEqual([]);
  });
});

test("[turn-repeatable] a refusal that is met in the turn is told as such; the turn can be run again, and the next is refused before it is written", async () => {
  const { alice, stub } = await seeingWorld();
  stub.refuseParameter("image_url");
  const post = (body: object, key: string) =>
    alice.post("/v1/chat", { message: "Which hall is this?", images: [{ data: base64 }], ...body }, { "Idempotency-Key": key });
  const streamed = await post({ stream: true }, "a");
  expect(parseEvents(streamed.text).at(-1)).toMatchObject({ event: "error", data: { code: "IMAGES_NOT_SUPPORTED", status: 400 } });
  expect(await post({}, "a")).toMatchObject({ status: 400, body: { code: "IMAGES_NOT_SUPPORTED" } });
  const { data } = (await alice.get<{ data: Session[] }>("/v1/sessions")).body;
  expect(data.map(({ message_count }) => message_count)).toEqual([1]);
  expect(await post({}, "b")).toMatchObject({ status: 400, body: { code: "IMAGES_NOT_SUPPORTED" } });
  expect((await alice.get<{ data: Session[] }>("/v1/sessions")).body.data).toHaveLength(1);
  // In words the conversation goes on.
  expect((await alice.say("It has golden pillars.", { session_id: data[0]?.id })).message.content).toBe("I see.");
});

describe("images go where their messages go", () => {
  test("a fork has its own: it keeps them when the first session is purged, and they are gone with it", async () => {
    const { alice, world } = await seeingWorld();
    const { session_id } = await say(alice, "Which hall is this?", [{ data: base64 }]);
    const [user] = (await alice.get<{ data: Message[] }>(`/v1/sessions/${session_id}/messages`)).body.data;
    const { body: fork } = await alice.post<Session>(`/v1/sessions/${session_id}/fork`, { message_id: user?.id });
    expect((await alice.delete(`/v1/sessions/${session_id}?purge=true`)).status).toBe(204);
    expect((await alice.get(imagePath(session_id))).status).toBe(404);
    expect((await alice.get(imagePath(fork.id))).text).toContain(CANARY);
    expect((await alice.delete(`/v1/sessions/${fork.id}?purge=true`)).status).toBe(204);
    expect(await imagesOf(world)).toBe(0);
  });

  test("emptying a session takes them out", async () => {
    const { alice, world } = await seeingWorld();
    const { session_id } = await say(alice, "Which hall is this?", [{ data: base64 }]);
    expect((await alice.delete(`/v1/sessions/${session_id}/messages`)).status).toBe(204);
    expect((await alice.get(imagePath(session_id))).body).toMatchObject({ code: "IMAGE_NOT_FOUND" });
    expect(await imagesOf(world)).toBe(0);
  });

  test("retention takes them along", async () => {
    const clock = new TestClock();
    const { alice, world } = await seeingWorld({}, { clock });
    const { session_id } = await say(alice, "Which hall is this?", [{ data: base64 }]);
    await alice.delete(`/v1/sessions/${session_id}`);
    expect((await alice.get(imagePath(session_id))).status).toBe(200);
    clock.days(400);
    expect(await world.application.parts.retention({ dryRun: false })).toMatchObject({ purged: 1 });
    expect(await imagesOf(world)).toBe(0);
  });

  test("[erasure-complete] an erasure leaves none, counts them, and leaves those of others", async () => {
    const { alice, bob, dir, world } = await seeingWorld();
    const his = await say(bob, "And this?", [{ data: picture("Bob's").toString("base64") }]);
    const bobs = imagePath(his.session_id, idOf(picture("Bob's")));
    await say(alice, "Which hall is this?", [{ data: base64 }, { url: `https://pictures.example/${CANARY}` }]);
    expect(await filesHolding(dir, [base64])).not.toEqual([]);
    const { body } = await alice.delete<ErasureReceipt>("/v1/me?confirm=true");
    expect(body).toMatchObject({ verified: true, erased: { images: 1 } });
    expect(await filesHolding(dir, [CANARY, base64])).toEqual([]);
    expect((await bob.get(bobs)).status).toBe(200);
    await world.stop();
    expect(await filesHolding(dir, [CANARY, base64])).toEqual([]);
  });

  test("at a start one whose message never came goes, a day later; those of sessions that the index has lost stay", async () => {
    const clock = new TestClock();
    const { alice, dir, world } = await seeingWorld({}, { clock });
    const { session_id } = await say(alice, "Which hall is this?", [{ data: base64 }]);
    const owner = ownerOf("default", "alice");
    const lost = newId();
    await world.application.parts.store.images.put(owner, lost, kept.id, picture());
    await world.stop();
    const state = await SqliteEngine.open({ path: join(dir, "state.db") });
    await state.commit(ownerPartition(owner), { id: newId(), deletes: [`session/${session_id}`] });
    await state.erase(systemPartition("files"));
    await state.close();
    const again = await openWorld(dir);
    onTestFinished(() => again.stop());
    const { images } = again.application.parts.store;
    await expect.poll(() => images.get(owner, lost, kept.id)).toBeNull();
    expect((await again.as("alice").get(imagePath(session_id))).text).toContain(CANARY);
  });

  test("they are there after a restart, also of an archived session", async () => {
    const { alice, dir, world } = await seeingWorld();
    const { session_id } = await say(alice, "Which hall is this?", [{ data: base64 }]);
    await alice.request("PATCH", `/v1/sessions/${session_id}`, { status: "archived" });
    await world.stop();
    const again = await openWorld(dir);
    onTestFinished(() => again.stop());
    expect((await again.as("alice").get(imagePath(session_id))).text).toContain(CANARY);
  });

  test("[export-complete] an export holds them, and gives them back; what is none is left out and named", async () => {
    const { alice, bob, dir } = await seeingWorld();
    const { session_id } = await say(alice, "Which hall is this?", [{ data: base64 }, { url: ADDRESS }]);
    const { text, body } = await alice.get<Exported>("/v1/me/export");
    const images = body.sessions[0]?.messages[0]?.images;
    expect(images).toEqual([{ ...kept, data: base64 }, expect.objectContaining({ url: ADDRESS })]);
    const contentOf = (exported: string) => JSON.stringify((JSON.parse(exported) as Exported).sessions);
    await alice.delete("/v1/me?confirm=true");
    expect((await alice.post<ImportResult>("/v1/import", text)).body).toEqual({ sessions: 1, messages: 2, skipped_duplicates: 0 });
    expect((await alice.get(imagePath(session_id))).text).toContain(CANARY);
    expect(contentOf((await alice.get("/v1/me/export")).text)).toBe(contentOf(text));

    // To somebody else it comes under another session; of the bytes that are not what they are said to be, nothing is kept.
    const bytes = picture("forged").toString("base64");
    const forged = text.replace(base64, bytes);
    const result = await bob.post<ImportResult>("/v1/import", forged);
    expect(result.body.left_out).toEqual([{ pointer: "/sessions/0/messages/0/images/0", detail: expect.any(String) }]);
    const [his] = (await bob.get<{ data: Session[] }>("/v1/sessions")).body.data;
    expect(his?.id).not.toBe(session_id);
    const { body: thread } = await bob.get<Thread>(`/v1/sessions/${his?.id}/thread`);
    expect(thread.steps[0]?.images).toEqual([expect.objectContaining({ url: ADDRESS })]);
    expect(await filesHolding(dir, ["forged", bytes])).toEqual([]);
  });
});

test("[merge-undone] a visitor's image goes with an undo from a copy and a fork that go on, and their owner's stay", async () => {
  const { world, alice } = await seeingWorld();
  const visitor = world.as("visitor");
  const { session_id } = await say(visitor, "Which hall is this?", [{ data: base64 }]);
  const { merge_id } = await world.application.identities.merge({ from: "visitor", to: "alice" });
  const copy = (await alice.get<Session>(`/v1/sessions/${session_id}`)).body.id;
  const [first] = (await alice.get<{ data: Message[] }>(`/v1/sessions/${copy}/messages`)).body.data;
  const fork = (await alice.post<Session>(`/v1/sessions/${copy}/fork`, { message_id: first?.id })).body.id;
  const own = picture("own");
  for (const id of [copy, fork]) await say(alice, "And this one?", [{ data: own.toString("base64") }], { session_id: id });
  expect(await imagesOf(world)).toBe(4);
  await world.application.identities.undo(merge_id);
  expect(await imagesOf(world)).toBe(2);
  for (const id of [copy, fork]) {
    expect((await alice.get(imagePath(id))).status).toBe(404);
    expect((await alice.get(imagePath(id, idOf(own)))).status).toBe(200);
  }
  expect((await visitor.get(imagePath(session_id))).status).toBe(200);
}, 60_000);
