import { afterAll, beforeAll, expect, test } from "vitest";
import { ENGINES, type EngineServer } from "../replicas/engines.js";
import { freePort } from "../support/free-port.js";
import { needing } from "../support/needing.js";
import { type Answer, startWorld, tempDir } from "./world.js";

for (const { program, name, open } of ENGINES)
  needing(program)(`${name} under the HTTP API`, () => {
    let engine: EngineServer;
    beforeAll(async () => {
      engine = await open();
    }, 60_000);
    afterAll(() => engine.close());

    test("while it is gone requests are 503 and say when to try again; when it is back they are answered, without a restart", async () => {
      const world = await startWorld(await tempDir(), engine.variables);
      const ada = world.as("ada");
      const { session_id } = await ada.say("Hello.");
      const chat = (message: string) => ada.post<{ code?: string }>("/v1/chat", { message, session_id }, { "Idempotency-Key": message });
      await engine.kill();
      const refused: Answer<{ code?: string }>[] = [
        await chat("Are you there?"),
        await ada.get("/v1/sessions"),
        await ada.get("/v1/memories"),
      ];
      for (const { status, headers, body } of refused) {
        expect(status).toBe(503);
        expect(body.code).toBe("STORAGE_UNAVAILABLE");
        expect(Number(headers.get("Retry-After"))).toBeGreaterThanOrEqual(1);
      }
      expect((await ada.get("/readyz")).status).toBe(503);
      expect((await ada.get("/healthz")).status).toBe(200);
      await engine.start();
      await expect.poll(async () => (await chat("Are you there?")).status, { timeout: 20_000 }).toBe(200);
      const thread = await ada.get<{ data: { role: string; content: string }[] }>(`/v1/sessions/${session_id}/messages`);
      expect(thread.body.data.filter(({ role }) => role === "user").map(({ content }) => content)).toEqual(["Hello.", "Are you there?"]);
      expect((await ada.get("/readyz")).status).toBe(200);
    }, 120_000);

    test("a start on one that can't be reached says so, and what to look at", async () => {
      const [variable = "", url = ""] = Object.entries(engine.variables)[0] ?? [];
      const nowhere = url.replace(/:\d+/, `:${await freePort()}`);
      const unreachable = { ...engine.variables, STARTUP_WAIT_MS: "1000" };
      const started = startWorld(await tempDir(), {
        ...unreachable,
        [variable]: nowhere.replace("//", "//someone:secret@").replace("maitred@", ""),
      });
      const failure = await started.catch((error: unknown) => error);
      expect(failure).toMatchObject({
        code: "STORAGE_UNAVAILABLE",
        message: expect.stringContaining(name),
        hint: expect.stringContaining(variable),
      });
      expect(JSON.stringify(failure) + String(failure)).not.toContain("secret");
    });
  });
