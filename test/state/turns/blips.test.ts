import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { silentLogger } from "../../../src/platform/logger.js";
import type { ModelEvent, ModelRequest } from "../../../src/ports/agent.js";
import { openWorld, type World } from "../../e2e/world.js";
import { ENGINES, type EngineServer } from "../../replicas/engines.js";
import { freePort } from "../../support/free-port.js";
import { needing } from "../../support/needing.js";
import { TaskModel } from "../../support/task-model.js";
import { VectorDouble } from "../../support/vector-double.js";
import { type SwitchingProxy, startSwitchingProxy } from "./switching-proxy.js";

const SHARED = {
  MEM0_PROVIDER: "qdrant",
  EMBEDDING_PROVIDER: "hashing",
  MEMORY_EMBEDDING_DIMENSIONALITY: "16",
  RATE_LIMIT_PER_MINUTE: "0",
};
/** Far below a lease of 15 s. */
const SOON_MS = 6_000;

/** Says when it is asked, and answers when it is let. */
class HeldModel extends TaskModel {
  asked: () => void = () => {};
  held: Promise<void> = Promise.resolve();

  override async *stream(request: ModelRequest): AsyncGenerator<ModelEvent, void, undefined> {
    if (request.task === "chat") {
      this.asked();
      await this.held;
    }
    yield* super.stream(request);
  }
}

// What a service's client does about connections is its own: `faults` and `engine-outage` meet those.
for (const { name, program, open } of ENGINES.filter(({ isSlow }) => !isSlow))
  needing(program)(`${name} that is away for a while`, () => {
    let server: EngineServer;
    let proxy: SwitchingProxy;
    let dir: string;
    const worlds: World[] = [];
    const vectors = new VectorDouble();
    beforeAll(async () => {
      dir = await mkdtemp(join(tmpdir(), "maitred-blips-"));
      server = await open();
      proxy = await startSwitchingProxy(portIn(server.variables));
    }, 60_000);
    afterAll(async () => {
      for (const world of worlds) await world.application.close({ drainMs: 0 });
      await proxy.close();
      await server.close();
      await rm(dir, { recursive: true });
    }, 60_000);
    const start = async (
      port: number,
      model: TaskModel,
      more: { readonly wait?: string; readonly warn?: (message: string) => void } = {},
    ) => {
      const own = Object.entries(server.variables).map(([key, value]) => [key, value.replace(`:${portIn(server.variables)}`, `:${port}`)]);
      const variables = { ...SHARED, ...Object.fromEntries(own), ...(more.wait !== undefined && { STARTUP_WAIT_MS: more.wait }) };
      const logger = { ...silentLogger, warn: (_: object, message?: string) => more.warn?.(message ?? "") };
      const world = await openWorld(join(dir, String(worlds.length)), variables, { model, logger, vectors: vectors.store() });
      worlds.push(world);
      return world;
    };

    test("the lock of a turn that could not be ended meanwhile is let go soon after, and another replica goes on", async () => {
      const model = new HeldModel();
      const [cutOff, other] = [await start(proxy.port, model), await start(portIn(server.variables), new TaskModel())];
      const { session_id } = await cutOff.as("ada").say("Hello.");
      let goOn = () => {};
      model.held = new Promise((resolve) => {
        goOn = resolve;
      });
      const asked = new Promise<void>((resolve) => {
        model.asked = resolve;
      });
      const say = (world: World, message: string) =>
        world.as("ada").post<{ message: { content: string } }>("/v1/chat", { message, session_id }, { "Idempotency-Key": message });
      const lost = say(cutOff, "Are you there?");
      await asked;
      proxy.switchTo(await freePort());
      goOn();
      expect((await lost).status).toBe(503);
      proxy.switchTo(portIn(server.variables));
      const from = performance.now();
      expect((await say(other, "And you?")).status).toBe(200);
      expect(performance.now() - from).toBeLessThan(SOON_MS);
      // What was lost is asked for again, and answered once.
      const again = await say(other, "Are you there?");
      expect(again.status).toBe(200);
      await expect.poll(async () => (await say(cutOff, "Are you there?")).text, { timeout: 10_000 }).toBe(again.text);
    }, 60_000);

    test("[stop-graceful] an application that can't reach it closes all the same", async () => {
      const world = await start(proxy.port, new TaskModel());
      await world.as("ada").say("Hello.");
      proxy.switchTo(await freePort());
      await expect(world.application.close({ drainMs: 500 })).resolves.toBeUndefined();
      proxy.switchTo(portIn(server.variables));
    }, 60_000);

    test("a start waits for it up to STARTUP_WAIT_MS, and says so once; without end it does not", async () => {
      await server.kill();
      const said: string[] = [];
      const waits = new Promise<void>((resolve) => {
        const warn = (message: string) => {
          said.push(message);
          resolve();
        };
        void start(portIn(server.variables), new TaskModel(), { wait: "1500", warn }).catch((error: unknown) => {
          expect(error).toMatchObject({ code: "STORAGE_UNAVAILABLE", message: expect.stringContaining(name) });
          said.push("gave up");
        });
      });
      await waits;
      await expect.poll(() => said, { timeout: 10_000 }).toEqual([expect.stringMatching(new RegExp(`^Waiting for ${name}`)), "gave up"]);
      const late: string[] = [];
      let begin = () => {};
      const began = new Promise<void>((resolve) => {
        begin = resolve;
      });
      const started = start(portIn(server.variables), new TaskModel(), {
        wait: "30000",
        warn: (message) => {
          late.push(message);
          begin();
        },
      });
      await began;
      await server.start();
      const world = await started;
      expect(late.filter((message) => message.startsWith("Waiting for"))).toHaveLength(1);
      expect((await world.as("ada").get("/readyz")).status).toBe(200);
      await world.as("ada").say("Hello.");
    }, 90_000);
  });

function portIn(variables: Readonly<Record<string, string>>): number {
  return Number(new URL(Object.values(variables)[0] ?? "").port);
}
