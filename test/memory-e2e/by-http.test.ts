import { expect, test } from "vitest";
import type { Memory } from "../../src/domain/memory.js";
import { type MessageToRead, proposedOperationSchema, type Reading } from "../../src/ports/extraction.js";
import { type Client, startWorld, tempDir } from "../e2e/world.js";

/** A message "Vegan?" gives a hard memory that waits, "Jazz." a soft one that holds. */
const reader = {
  name: "by mark",
  read: async ({ text }: MessageToRead): Promise<Reading> => {
    const quotes = text.match(/\w+[.?]/g) ?? [];
    const operations = quotes.map((quote) => {
      const said = { op: "add", quote, text: quote.slice(0, -1), about: quote.slice(0, -1) };
      const how = quote.endsWith("?") ? { category: "dietary", strength: "hard", stance: "unsure" } : { category: "genre", aspect: quote };
      return proposedOperationSchema.parse({ ...said, ...how });
    });
    return { operations, off_record: null, unreadable: 0 };
  },
};

async function ada(): Promise<Client> {
  return (await startWorld(await tempDir(), {}, { reader })).as("ada");
}
const listed = async (client: Client, query = "") =>
  (await client.get<{ data: Memory[] }>(`/v1/memories${query}`)).body.data.map(({ text, status }) => `${text} ${status}`).sort();

test("a yes makes what waits hold, a no closes it, and neither is answered twice", async () => {
  const client = await ada();
  const { session_id } = await client.say("Vegan? Halal? Jazz.");
  const { data } = (await client.get<{ data: Memory[] }>("/v1/memories?status=review")).body;
  const idOf = (text: string) => data.find((memory) => memory.text === text)?.id;
  expect(await client.post(`/v1/memories/${idOf("Vegan")}/approve`)).toMatchObject({
    status: 200,
    body: { status: "active", reason: null },
  });
  expect(await client.post(`/v1/memories/${idOf("Halal")}/reject`)).toMatchObject({ status: 200, body: { status: "superseded" } });
  expect(await client.post(`/v1/memories/${idOf("Halal")}/reject`)).toMatchObject({ status: 400, body: { code: "INVALID_REQUEST" } });
  expect(await listed(client)).toEqual(["Jazz active", "Vegan active"]);
  expect(await listed(client, "?status=review")).toEqual([]);
  expect((await client.say("Good evening", { session_id })).memory.to_confirm).toEqual([]);
});

test("a no is the user's own: of somebody else's memory it is as of none", async () => {
  const world = await startWorld(await tempDir(), {}, { reader });
  await world.as("ada").say("Vegan?");
  const { data } = (await world.as("ada").get<{ data: Memory[] }>("/v1/memories?status=review")).body;
  const refused = await world.as("bob").post(`/v1/memories/${data[0]?.id}/reject`);
  expect([refused.status, refused.body.code]).toEqual([404, "MEMORY_NOT_FOUND"]);
  expect(await listed(world.as("ada"), "?status=review")).toEqual(["Vegan review"]);
});

test("what came from a session, and from one turn of it, is listed with what waits; a turn without its session is refused", async () => {
  const client = await ada();
  const { session_id } = await client.say("Jazz. Vegan?");
  await client.say("Opera.", { session_id });
  await client.say("Tango.");
  expect(await listed(client, `?session_id=${session_id}`)).toEqual(["Jazz active", "Opera active", "Vegan review"]);
  expect(await listed(client, `?session_id=${session_id}&turn=1`)).toEqual(["Jazz active", "Vegan review"]);
  expect(await listed(client, `?session_id=${session_id}&turn=1&status=active`)).toEqual(["Jazz active"]);
  expect(await listed(client, `?session_id=${session_id}&turn=3`)).toEqual([]);
  expect(await client.get("/v1/memories?turn=1")).toMatchObject({ status: 400, body: { code: "INVALID_REQUEST" } });
  expect(await client.get("/v1/memories?session_id=mine")).toMatchObject({ status: 400, body: { code: "INVALID_SESSION_ID" } });
});

test("an incognito turn shows, settles and keeps nothing; a session begun so is so whole", async () => {
  const client = await ada();
  const { session_id } = await client.say("Vegan? Jazz.");
  const hidden = await client.say("Opera.", { session_id, incognito: true });
  expect(hidden.memory).toEqual({ status: "disabled", write_back: "disabled", to_confirm: [], recalled: [], used: [] });
  const began = await client.say("Tango.", { incognito: true });
  expect((await client.say("Polka.", { session_id: began.session_id })).memory.status).toBe("disabled");
  expect(await listed(client)).toEqual(["Jazz active"]);
  expect(await listed(client, "?status=review")).toEqual(["Vegan review"]);
  const found = await client.post<{ data: { content: string }[] }>("/v1/history/search", { query: "Opera Tango Polka", limit: 200 });
  expect(found.body.data.filter(({ content }) => /opera|tango|polka/i.test(content))).toEqual([]);
  expect((await client.say("Good evening", { session_id })).memory.to_confirm).toMatchObject([{ text: "Vegan" }]);
});
