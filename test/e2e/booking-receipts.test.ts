import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DEFAULT_TENANT, ownerOf } from "../../src/domain/owner.js";
import { ReceiptLog } from "../../src/gate/receipt-log.js";
import { SqliteEngine } from "../../src/state/engines/sqlite/sqlite-engine.js";
import { run } from "../cli/run.js";
import { CELLAR, namedBookings, OFF_RECORD, OTHER_CELLAR, WHEELCHAIR_SAID } from "../support/named-booking.js";
import { filesHolding } from "./world.js";

test("[booking-receipt] a booking says what was checked and waived; its verdict replays; what is forgotten, purged or erased is in none", async () => {
  const { dir, world, book, receipts } = await namedBookings();
  const [ada, cleo] = [world.as("ada"), world.as("cleo")];
  await book(ada, CELLAR);
  await book(ada, OTHER_CELLAR);
  const [second, first] = await receipts(ada);
  expect(first).toMatchObject({ number: 1, prev: null, body: { tool: "book_tickets", waived: [{ how: "override" }] } });
  expect(first?.body?.checked.needs).toMatchObject([
    { need: "step_free", source: { quote: WHEELCHAIR_SAID }, stated: { state: "broken" } },
  ]);
  expect(second).toMatchObject({ number: 2, prev: first?.hash });
  expect((await world.as("bob").get<{ data: unknown[] }>("/v1/me/receipts")).body.data).toEqual([]);

  const verified = async (name: string, document: unknown) => {
    await writeFile(join(dir, name), JSON.stringify(document));
    return run(["verify", join(dir, name)]);
  };
  expect(await verified("page.json", { data: [second, first] })).toMatchObject({ code: 0, stdout: expect.stringContaining("2 receipts") });
  expect((await verified("export.json", (await ada.get("/v1/me/export")).body)).code).toBe(0);
  const forged = { ...first, body: { ...first?.body, waived: [] } };
  expect(await verified("forged.json", [forged])).toMatchObject({
    code: 6,
    stdout: expect.stringContaining("not what it was sealed with"),
  });
  expect(await verified("other.json", [{ id: "x" }])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("no receipt of a booking"),
  });

  const { data } = (await ada.get<{ data: { id: string }[] }>("/v1/memories")).body;
  for (const { id } of data) expect((await ada.delete(`/v1/memories/${id}`)).status).toBe(204);
  expect(await receipts(ada)).toMatchObject([{ body: null }, { body: null }]);
  expect((await verified("emptied.json", await receipts(ada))).stdout).toContain("2 of them without what was checked");

  const session = await book(cleo, CELLAR);
  expect((await receipts(cleo))[0]?.body).not.toBeNull();
  expect((await cleo.delete(`/v1/sessions/${session}?purge=true&keep_memories=true`)).status).toBe(204);
  expect((await receipts(cleo))[0]?.body).toBeNull();

  await book(cleo, OTHER_CELLAR);
  const erased = await cleo.delete("/v1/me?confirm=true");
  expect(erased.body).toMatchObject({ verified: true, erased: { booking_receipts: 2 } });
  expect(await receipts(cleo)).toEqual([]);
  expect(await ada.delete("/v1/me?confirm=true")).toMatchObject({ status: 200 });
  await world.stop();
  expect((await filesHolding(dir, ["Marienbad"])).filter((file) => !file.includes(".json:"))).toEqual([]);
});

test("[booking-receipt] [merge-undone] what a visitor had said is in no receipt of who they turned out not to be", async () => {
  const { dir, world, book, receipts } = await namedBookings();
  const [visitor, ada] = [world.as("visitor"), world.as("ada")];
  await visitor.say(WHEELCHAIR_SAID);
  const merge = await world.application.identities.merge({ from: "visitor", to: "ada" });
  await book(ada, CELLAR, "Good evening");
  expect((await receipts(ada))[0]?.body?.checked.needs).toMatchObject([{ source: { quote: WHEELCHAIR_SAID } }]);
  await world.application.identities.undo(merge.merge_id);
  expect(await receipts(ada)).toMatchObject([{ number: 1, body: null }]);
  expect((await visitor.delete("/v1/me?confirm=true")).body).toMatchObject({ verified: true });
  await world.stop();
  expect(await filesHolding(dir, ["Marienbad"])).toEqual([]);
});

test("[booking-receipt] what is taken off the record is in no receipt that is kept", async () => {
  const { dir, world, book, receipts } = await namedBookings();
  const ada = world.as("ada");
  const { session_id } = await ada.say(WHEELCHAIR_SAID);
  await book(ada, CELLAR, "Good evening");
  expect((await receipts(ada))[0]?.body?.checked.needs).toMatchObject([{ source: { quote: WHEELCHAIR_SAID } }]);
  await ada.say(OFF_RECORD, { session_id });
  await world.stop();
  const engine = await SqliteEngine.open({ path: join(dir, "state.db") });
  const all = new ReceiptLog(engine, async () => ({ has: () => true }));
  expect(await all.list(ownerOf(DEFAULT_TENANT, "ada"), 10)).toMatchObject([{ number: 1, body: null }]);
  await engine.close();
});
