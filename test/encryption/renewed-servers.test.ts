import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import type { Composed } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import { encryptionOf } from "../../src/compose/encryption-commands.js";
import { ownerOf } from "../../src/domain/owner.js";
import { CANARY, tell } from "../support/a-life.js";
import { byWords } from "../support/by-words.js";
import { needing } from "../support/needing.js";
import { openPostgresServer } from "../support/postgres-server.js";
import { openPlace, startIn } from "./everything.js";
import { type Server, STATE_SERVERS } from "./servers.js";

const CHILD = fileURLToPath(new URL("./renewing.ts", import.meta.url));
const alice = ownerOf("default", "alice");
const quiet = { signal: new AbortController().signal, onProgress: () => {} };
/** How far a renewal has come when it is killed, in milliseconds: anywhere. */
const KILLED_MS = 200;

async function saidIn({ sessions }: Composed, id: string): Promise<string[]> {
  const said: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await sessions.messages(alice, id, { limit: 200, ...(cursor !== undefined && { cursor }) });
    said.push(...page.data.filter(({ role }) => role === "user").map(({ content }) => content));
    if (page.nextCursor === null) return said;
    cursor = page.nextCursor;
  }
}

/** What alice has: her messages in their order, what she is known to like, and what a search finds. */
async function has(application: Composed, sessions: readonly string[]) {
  return {
    said: await Promise.all(sessions.map((id) => saidIn(application, id))),
    memories: (await application.memories.list(alice, {})).data.map(({ text }) => text).sort(),
    found: (await application.history.search(alice, { query: CANARY, limit: 50 })).map(({ content }) => content).sort(),
  };
}

async function postgres(): Promise<Server> {
  const { url, close } = await openPostgresServer();
  return { url, variables: { DATABASE_URL: url, MEM0_PROVIDER: "state" }, close };
}

const SERVERS = [...STATE_SERVERS, { program: "postgres", name: "PostgreSQL alone, vectors too", open: postgres } as const];

for (const { program, name, open } of SERVERS)
  needing(program)(name, () => {
    test("[renewed-in-use] [erased-by-key] a user's key is renewed, killed in between, while they talk to two servers; erased, they stay so", async () => {
      const { base, dir } = await openPlace();
      const server = await open();
      onTestFinished(async () => {
        await server.close();
        await rm(base, { recursive: true, force: true });
      });
      const variables = { ...server.variables, MEMORY_STORAGE_DIR: dir, RECALL_DEADLINE_MS: "20000" };
      const env = { ...variables, ENCRYPTION_KEY_FILE: join(base, "master.key") };
      const commands = encryptionOf(parseConfig(byWords(env)));
      const servers = [await startIn(base, variables), await startIn(base, variables)] as const;
      const said = [[`I love ${CANARY} jazz.`], [`I love ${CANARY} opera.`]];
      const sessions: string[] = [];
      for (const [n, each] of servers.entries()) sessions.push(await tell(each, alice, said[n]?.[0] ?? ""));

      let goesOn = true;
      const talking = servers.map(async (each, n) => {
        for (let turn = 1; goesOn; turn += 1) {
          const message = `I like ${CANARY} show ${turn} of ${n}.`;
          said[n]?.push(message);
          await tell(each, alice, message, sessions[n]);
        }
      });
      const child = spawn(process.execPath, ["--import", "tsx", CHILD, alice, JSON.stringify(env)], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const exited = once(child, "exit");
      await Promise.race([once(child.stdout, "data"), exited]);
      const timer = setTimeout(() => child.kill("SIGKILL"), KILLED_MS);
      await exited;
      clearTimeout(timer);
      const report = await commands.renew(alice, quiet);
      const again = await commands.renew(alice, quiet);
      goesOn = false;
      await Promise.all(talking);
      expect(report.values + again.values).toBeGreaterThan(10);
      await commands.save(join(base, "saved"));
      const saved = (await readFile(join(base, "saved"), "utf8")).split("\n").filter((line) => line.includes('"destroyed":["'));
      expect(saved).toHaveLength(1);
      expect(JSON.parse(saved[0] ?? "").row.keys).toHaveLength(2);

      const fresh = await startIn(base, variables);
      const [first, ...others] = await Promise.all([...servers, fresh].map((each) => has(each, sessions)));
      expect(first?.said).toEqual(said);
      expect(first?.memories.length).toBeGreaterThan(1);
      expect(first?.found.length).toBeGreaterThan(3);
      for (const each of others) expect(each).toEqual(first);

      const [receipt] = await Promise.all([servers[0].privacy.erase(alice, { by: "user" }), commands.renew(alice, quiet)]);
      expect(receipt.verified).toBe(true);
      for (const each of [...servers, fresh]) {
        expect((await each.sessions.list(alice, {})).data).toEqual([]);
        expect((await each.memories.list(alice, {})).data).toEqual([]);
        expect(await each.history.search(alice, { query: CANARY })).toEqual([]);
      }
    }, 240_000);
  });
