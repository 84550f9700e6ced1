import { afterAll, beforeAll, expect, test } from "vitest";
import { ownerOf } from "../../src/domain/owner.js";
import { startWorld, tempDir } from "../e2e/world.js";
import { needing } from "../support/needing.js";
import { ENGINES, type EngineServer } from "./engines.js";

const OWNERS = Array.from({ length: 8 }, (_, at) => ownerOf("default", `guest-${at}`));

for (const { program, name, open } of ENGINES) {
  needing(program)(`two processes on ${name}`, () => {
    let server: EngineServer | undefined;
    beforeAll(async () => {
      server = await open();
    }, 60_000);
    afterAll(async () => {
      await server?.close();
    });

    test("a session that one purges or empties while the other writes it back leaves none of its words", async () => {
      const variables = { ...server?.variables, MEM0_PROVIDER: "state" };
      const [one, other] = [await startWorld(await tempDir(), variables), await startWorld(await tempDir(), variables)];
      const { sessions, memories } = other.application;
      await Promise.all(
        OWNERS.map(async (owner, at) => {
          const { session_id } = await one.application.chat.chat({ owner, message: "I like rum." });
          if (at % 2 === 0) await sessions.purge(owner, session_id, { keepMemories: false, by: "user" });
          else await sessions.empty(owner, session_id);
        }),
      );
      // Whatever it still writes back is written then.
      await one.application.close();
      const left = await Promise.all(OWNERS.map(async (owner) => (await memories.list(owner, {})).data));
      expect(left.filter((_, at) => at % 2 === 0).flat()).toEqual([]);
      expect(left.flat().filter(({ source }) => (source?.quote ?? "") !== "")).toEqual([]);
    }, 120_000);
  });
}
