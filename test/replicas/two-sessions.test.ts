import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { compose } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import { ownerOf } from "../../src/domain/owner.js";
import { needing } from "../support/needing.js";
import { ENGINES, type EngineServer } from "./engines.js";

const ADA = ownerOf("acme", "ada");

async function story(open: () => Promise<EngineServer>): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), "maitred-on-engine-"));
  const server = await open();
  // A slow machine is not to change what an answer knows.
  const config = parseConfig({ ...server.variables, EMBEDDING_PROVIDER: "hashing", MEMORY_STORAGE_DIR: dir, RECALL_DEADLINE_MS: "10000" });
  try {
    const first = await compose(config);
    const said = await first.chat.chat({ owner: ADA, message: "Hi, I prefer jazz and I need step-free access." });
    await first.sessions.flush(ADA, said.session_id, 10_000);
    await first.close();
    await server.kill();
    await server.start();
    const second = await compose(config);
    try {
      expect((await second.readiness()).parts.short_term).toMatchObject({ status: "ok" });
      const answer = await second.chat.chat({ owner: ADA, message: "Two tickets for something this weekend, please." });
      const known = answer.memory.recalled.map(({ text }) => text).join();
      expect(known).toMatch(/jazz/i);
      expect(known).toMatch(/step-free/i);
      expect(await second.privacy.erase(ADA, { by: "user" })).toMatchObject({ verified: true, erased: { sessions: 2 } });
      expect((await second.sessions.list(ADA, {})).data).toEqual([]);
    } finally {
      await second.close();
    }
  } finally {
    await server.close();
    await rm(dir, { recursive: true });
  }
}

for (const { program, name, open } of ENGINES)
  needing(program)(`the product on ${name}`, () => {
    test(
      "a second session knows what the first was told, in another process after the engine was killed; an erasure leaves nothing",
      () => story(open),
      120_000,
    );
  });
