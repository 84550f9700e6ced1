import { describe, expect, onTestFinished, test } from "vitest";
import type { Owner } from "../../src/domain/owner.js";
import { ALICE, BOB } from "../support/journal-records.js";
import { makeWorld } from "../support/session-world.js";
import type { SessionStoreUnderTest } from "./session-store.contract.js";

/** What a session store's locks and external ids are for: a name of an application's own means one session. */
export function describeSessionNamesContract(name: string, make: () => Promise<SessionStoreUnderTest>): void {
  describe(`session names: ${name}`, () => {
    test("two that begin a session of one name at once make one; another owner's of that name is another", async () => {
      const { store, dispose } = await make();
      onTestFinished(() => dispose());
      const worlds = await Promise.all([makeWorld({ store }), makeWorld({ store })]);
      const begin = (owner: Owner) => Promise.all(worlds.map(({ sessions }) => sessions.findOrCreate(owner, "trip to Bergen", {})));
      const [first, second] = await begin(ALICE);
      expect([first?.created, second?.created].sort()).toEqual([false, true]);
      expect(first?.session.id).toBe(second?.session.id);
      const [theirs] = await begin(BOB);
      expect(theirs?.session).toMatchObject({ external_id: "trip to Bergen" });
      expect(theirs?.session.id).not.toBe(first?.session.id);
    });
  });
}
