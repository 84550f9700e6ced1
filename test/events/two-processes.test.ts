import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Composed, compose } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import { ownerOf } from "../../src/domain/owner.js";
import { BEGINNING, type ToldEvent } from "../../src/ports/events.js";
import { needing } from "../support/needing.js";
import { openPostgresServer } from "../support/postgres-server.js";
import { openRedisServer } from "../support/redis-server.js";
import { openWebhookReceiver, WEBHOOK_SECRET } from "../support/webhook-receiver.js";

const USERS = ["ada", "bob", "cleo"];
const ROUNDS = 5;

/** Engines that several processes share, and the variables by which they are named; `place` sets one test apart from another. */
const ENGINES = [
  {
    name: "PostgreSQL",
    needs: "postgres",
    open: openPostgresServer,
    variables: (url: string, place: number) => ({ DATABASE_URL: url, DATABASE_SCHEMA: `events_${place}` }),
  },
  {
    name: "Redis",
    needs: "redis",
    open: openRedisServer,
    variables: (url: string, place: number) => ({ REDIS_URL: url, REDIS_PREFIX: `events-${place}` }),
  },
  {
    name: "Redis Cluster",
    needs: "redis",
    open: () => openRedisServer({ cluster: true }),
    variables: (url: string, place: number) => ({ REDIS_URL: url, REDIS_PREFIX: `events-${place}` }),
  },
] as const;

describe.each(ENGINES)("events of two processes", (engine) => {
  needing(engine.needs)(`on one ${engine.name}`, () => {
    let server: Awaited<ReturnType<typeof engine.open>>;
    let dir: string;
    let places = 0;
    beforeAll(async () => {
      dir = await mkdtemp(join(tmpdir(), "maitred-two-events-"));
      server = await engine.open();
    }, 60_000);
    afterAll(async () => {
      await server.close();
      await rm(dir, { recursive: true });
    }, 60_000);

    /** Both without memories, whose vectors are one process's. */
    async function two(variables: Readonly<Record<string, string>> = {}): Promise<readonly [Composed, Composed]> {
      places += 1;
      const open = async (name: string) => {
        const config = parseConfig({
          ...engine.variables(server.url, places),
          MEMORY_STORAGE_DIR: join(dir, name),
          MEM0_ENABLED: "false",
          MEM0_PROVIDER: "qdrant",
          HISTORY_BACKEND: "none",
          ...variables,
        });
        const opened = await compose(config, { webhooks: { waitsMs: [50, 50, 50, 50, 50, 50] } });
        onTestFinished(() => opened.close({ drainMs: 0 }));
        return opened;
      };
      return [await open("one"), await open("other")];
    }

    test("[events-resumed] what one writes, who follows at the other is told", async () => {
      const [one, other] = await two();
      const owner = ownerOf("default", "ada");
      const { events } = await other.events.follow({ owner }, { signal: AbortSignal.timeout(25_000), after: BEGINNING });
      const told: ToldEvent[] = [];
      const following = (async () => {
        for await (const event of events) if (told.push(event) === 3) return;
      })();
      const { id } = await one.sessions.create(owner, {});
      await other.sessions.create(ownerOf("default", "bob"), {});
      await one.sessions.patch(owner, id, { status: "archived" });
      await other.sessions.delete(owner, id);
      await following;
      expect(told.map(({ type, data }) => [type, data.session_id])).toEqual([
        ["session.created", id],
        ["session.archived", id],
        ["session.deleted", id],
      ]);
    });

    test("[events-told] both deliver, each event once, in order for each user, though the receiver fails now and then", async () => {
      let count = 0;
      const receiver = await openWebhookReceiver((_event, response) => {
        count += 1;
        response.writeHead(count % 4 === 0 ? 500 : 204).end();
      });
      const processes = await two({ WEBHOOK_URL: receiver.url, WEBHOOK_SECRET });
      const made: [string, string][] = [];
      for (let round = 0; round < ROUNDS; round += 1)
        for (const [place, user] of USERS.entries()) {
          const at = processes[(round + place) % 2] as Composed;
          made.push([user, (await at.sessions.create(ownerOf("default", user), {})).id]);
        }
      const delivered = () => new Set(receiver.received.map(({ event }) => event.id)).size;
      await receiver.until(() => delivered() === made.length);
      await expect.poll(async () => (await processes[0].readiness()).parts.webhooks?.detail, { timeout: 20_000 }).toBe("0 events wait");
      for (const user of USERS) {
        const ofUser = receiver.received.filter(({ event }) => event.user === user).map(({ event }) => event.data.session_id ?? "");
        expect([...new Set(ofUser)]).toEqual(made.filter(([who]) => who === user).map(([, id]) => id));
      }
      // Nothing is brought again that was taken.
      expect(receiver.received).toHaveLength(made.length + Math.floor(count / 4));
    });
  });
});
