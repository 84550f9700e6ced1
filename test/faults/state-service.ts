import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openWorld, type World } from "../e2e/world.js";
import { type Need, needing } from "../support/needing.js";
import { TaskModel } from "../support/task-model.js";
import { VectorDouble } from "../support/vector-double.js";
import type { FailingEngine } from "./failing-engines.js";
import { openPage } from "./matrix.js";
import { WITH_A_SERVICE } from "./started.js";
import { runs } from "./store-faults.js";

interface Ready {
  readonly parts: { readonly short_term: { readonly status: string; readonly detail?: string } };
}

interface Service {
  readonly part: Parameters<ReturnType<typeof openPage>["compare"]>[0];
  readonly program: Need;
  readonly open: () => Promise<FailingEngine>;
}

/** The product on a service that fails in each of its ways, and the rows of the page about faults that tell it. */
export function whileItFails(services: readonly Service[]): void {
  const { compare, comparePage } = openPage();
  for (const { part, program, open } of services)
    needing(program)(`${part.replace("State in", "the product on")} that fails`, () => {
      let engine: FailingEngine;
      let world: World;
      let dir: string;
      beforeAll(async () => {
        dir = await mkdtemp(join(tmpdir(), "maitred-services-"));
        engine = await open();
        const variables = { ...WITH_A_SERVICE, ...engine.variables };
        world = await openWorld(dir, variables, { model: new TaskModel(), vectors: new VectorDouble().store() });
      }, 120_000);
      afterAll(async () => {
        await world.application.close({ drainMs: 0 });
        await engine.close();
        await rm(dir, { recursive: true });
      }, 60_000);

      test("[ready-means-ready] while it refuses writes, is out of reach, or is not the one it was, readyz says 503 and why, and a turn is 503; when it is well again both are 200, and nothing is lost", async () => {
        const ada = world.as("ada");
        const { session_id } = (await ada.post<{ session_id: string }>("/v1/chat", { message: "Hello." })).body;
        /** The status of the state, and of what is answered for it. */
        const ready = async () => {
          const { status, body } = await ada.get<Ready>("/readyz");
          const { status: part, detail = "" } = body.parts.short_term;
          return { is: `${status} ${part}`, detail };
        };
        const isWell = () => expect.poll(async () => (await ready()).is, { timeout: 30_000 }).toBe("200 ok");
        await isWell();
        const said = ["Hello."];
        const rows: (() => void)[] = [];
        for (const [n, [fault, says, begin, end, matches]] of engine.faults.entries()) {
          const message = `Are you there? (${n})`;
          const bodies = [{ message, session_id }, { message: "Is anybody there?" }];
          const turns = async () => {
            const codes: string[] = [];
            for (const [place, body] of bodies.entries()) {
              const key = { "Idempotency-Key": `${n} ${place}` };
              const answer = await ada.post<{ code?: string }>("/v1/chat", body, key);
              codes.push(answer.status === 200 ? "200" : `${answer.status} ${answer.body.code}`);
            }
            return runs(codes);
          };
          await begin();
          const isDown = async () => {
            const { is, detail } = await ready();
            return `${is}: ${detail.includes(says) || matches?.test(detail) === true ? says : detail}`;
          };
          const expected = {
            answered: "503 STORAGE_UNAVAILABLE ×2",
            readyz: `503 down: ${says}`,
            again: "200 ×2",
            afterwards: "nothing lost",
          };
          // What it says first may be that the connection was lost.
          const found = expect.poll(isDown, { timeout: 20_000, message: fault }).toBe(expected.readyz);
          const answered = await found.then(turns).catch((error: unknown) => String(error));
          const readyz = await isDown();
          await end();
          await isWell();
          const again = await turns();
          said.push(message);
          const { data } = (await ada.get<{ data: { role: string; content: string }[] }>(`/v1/sessions/${session_id}/messages`)).body;
          const kept = data.filter(({ role }) => role === "user").map(({ content }) => content);
          const afterwards = kept.join("|") === said.join("|") ? "nothing lost" : `the session holds ${kept.join(", ")}`;
          const seen = { answered, readyz, again, afterwards };
          rows.push(() => compare(part, fault, expected, seen));
        }
        for (const row of rows) row();
      }, 400_000);
    });

  test("the page about faults says what was seen", comparePage);
}
