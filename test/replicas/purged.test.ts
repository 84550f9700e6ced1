import { afterAll, beforeAll, expect, test } from "vitest";
import { ownerOf } from "../../src/domain/owner.js";
import { isAppError } from "../../src/platform/errors.js";
import { startWorld, tempDir } from "../e2e/world.js";
import { needing } from "../support/needing.js";
import { ENGINES, type EngineServer } from "./engines.js";

const GUESTS = Array.from({ length: 8 }, (_, at) => ownerOf("default", `guest-${at}`));

/** As a client does while the other process has the session. */
async function insisting(ask: () => Promise<unknown>): Promise<void> {
  for (;;)
    try {
      return void (await ask());
    } catch (error) {
      if (!isAppError(error, "SESSION_BUSY")) throw error;
    }
}

for (const { program, name, open, isSlow } of ENGINES) {
  needing(program)(`two processes on ${name}`, () => {
    let server: EngineServer | undefined;
    beforeAll(async () => {
      server = await open();
    }, 60_000);
    afterAll(async () => {
      await server?.close();
    });

    const owners = GUESTS.slice(0, isSlow ? 2 : GUESTS.length);

    test("a session that one purges or empties while the other writes it back leaves none of its words", async () => {
      const variables = { ...server?.variables, MEM0_PROVIDER: "state" };
      const [one, other] = [await startWorld(await tempDir(), variables), await startWorld(await tempDir(), variables)];
      const { sessions, memories } = other.application;
      await Promise.all(
        owners.map(async (owner, at) => {
          const { session_id } = await one.application.chat.chat({ owner, message: "I like rum." });
          const take = () =>
            at % 2 === 0 ? sessions.purge(owner, session_id, { keepMemories: false, by: "user" }) : sessions.empty(owner, session_id);
          await insisting(take);
        }),
      );
      // Whatever it still writes back is written then.
      await one.application.close();
      const left = await Promise.all(owners.map(async (owner) => (await memories.list(owner, {})).data));
      expect(left.filter((_, at) => at % 2 === 0).flat()).toEqual([]);
      expect(left.flat().filter(({ source }) => (source?.quote ?? "") !== "")).toEqual([]);
    }, 120_000);
  });
}
