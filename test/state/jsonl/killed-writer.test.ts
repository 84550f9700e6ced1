import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { collected } from "../../../src/platform/collected.js";
import { nodeFileSystem } from "../../../src/platform/file-system.js";
import { newId } from "../../../src/platform/ids.js";
import { silentLogger } from "../../../src/platform/logger.js";
import { FileMemoryService } from "../../../src/state/jsonl/file-memory-service.js";
import { ALICE } from "../../support/journal-records.js";

const WRITER = fileURLToPath(new URL("./killed-writer.ts", import.meta.url));

test.each([1, 7, 40])(
  "a process that is killed after its round %i on a disk that forgets has kept all that it said it kept",
  async (killAfter) => {
    const dir = await mkdtemp(join(tmpdir(), "maitred-killed-"));
    try {
      const sessionId = newId();
      const child = spawn(process.execPath, ["--import", "tsx", WRITER, dir, sessionId], { stdio: ["ignore", "pipe", "inherit"] });
      const ended = new Promise((resolve) => child.once("exit", resolve));
      let said = 0;
      for await (const line of createInterface(child.stdout)) {
        said = Number(line);
        if (said >= killAfter) child.kill("SIGKILL");
      }
      await ended;
      expect(said).toBeGreaterThanOrEqual(killAfter);
      const journal = await FileMemoryService.open({ dir, fileSystem: nodeFileSystem, logger: silentLogger });
      const seqs = (await collected(journal.read(ALICE, sessionId))).map(({ seq }) => seq);
      expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, index) => index + 1));
      const { rounds } = await journal.window(ALICE, sessionId, { rounds: 1_000 });
      expect(rounds.length).toBeGreaterThanOrEqual(said);
      expect(rounds.every(({ steps }) => steps.length === 1)).toBe(true);
      await journal.close();
    } finally {
      await rm(dir, { recursive: true });
    }
  },
);
