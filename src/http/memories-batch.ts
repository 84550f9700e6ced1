import { z } from "@hono/zod-openapi";
import { memorySchema } from "../domain/memory.js";
import type { AppError } from "../platform/errors.js";
import { present } from "../platform/present.js";
import { idempotencyHeader, keyed } from "./chat.js";
import { OF_A_KEY } from "./described-problems.js";
import { fieldsOf } from "./fields.js";
import { addBody, type MemoryRoutesParts } from "./memories.js";
import { problemOf, problemSchema } from "./problem.js";
import { type ApiApp, answer, answers, body, newApi, routesOf } from "./routes.js";
import { zoneOfDates } from "./time-zone.js";
import { invalidRequest } from "./validation.js";

const MAX_MEMORIES = 100;

/** Each is looked at by itself, so that one that is wrong doesn't stop the others. */
const batchBody = fieldsOf({
  memories: z
    .array(z.record(z.string(), z.unknown()))
    .min(1)
    .max(MAX_MEMORIES)
    .openapi({ type: "array", items: { $ref: "#/components/schemas/NewMemory" }, minItems: 1, maxItems: MAX_MEMORIES }),
}).openapi("NewMemories");

const outcomeSchema = z
  .object({
    status: z.number().int().openapi({ description: "As an answer to this memory alone would have it: 201, 400, 422, 503." }),
    memory: memorySchema.optional(),
    problem: problemSchema.optional(),
  })
  .openapi("NewMemoryOutcome");
const outcomes = z.object({ data: z.array(outcomeSchema) }).openapi("NewMemoryOutcomes");
type Outcome = z.output<typeof outcomeSchema>;

const route = routesOf("Memories")("post", "/v1/memories/batch", "addMemories", {
  summary: "State many memories by hand, each with its own outcome",
  request: { headers: idempotencyHeader, body: body(batchBody) },
  responses: answers(outcomes, "What became of each, in the order given.", 201, ["Idempotency-Replayed"]),
  fails: OF_A_KEY,
});

/** Many memories by hand. The same Idempotency-Key makes a retry harmless: what is there is not added again. */
export function memoryBatchRoutes({ memories, user, clock }: Pick<MemoryRoutesParts, "memories" | "user" | "clock">): ApiApp {
  const api = newApi();
  api.openapi(route, async (c) => {
    const owner = c.get("owner");
    const key = c.req.valid("header")["Idempotency-Key"];
    const failed = (error: AppError): Outcome => ({ status: error.status, problem: problemOf(error, c.get("requestId")) });
    const given = c.req.valid("json").memories.map((each, place) => ({ place, parsed: addBody.safeParse(each) }));
    const fit = given.flatMap(({ place, parsed }) => (parsed.success ? [{ place, said: parsed.data }] : []));
    const added = await memories.addAll(
      owner,
      fit.map(({ said: { text, ...said } }) => ({ ...present(said), text })),
      {
        ...present({ request: keyed(c, key, { route: "memories/batch", key, body: c.get("body") }) }),
        now: clock.now(),
        ...(await zoneOfDates(
          c,
          user,
          fit.map(({ said }) => said.valid_until),
        )),
      },
    );
    const outcomeOf = new Map<number, Outcome>();
    for (const [index, { place }] of fit.entries()) {
      const outcome = added[index];
      if (outcome === undefined) continue;
      outcomeOf.set(place, "memory" in outcome ? { status: 201, memory: memorySchema.parse(outcome.memory) } : failed(outcome.error));
    }
    const data = given.flatMap(({ place, parsed }) => {
      if (!parsed.success) return [failed(invalidRequest(parsed.error, "json", c.req.path))];
      return outcomeOf.get(place) ?? [];
    });
    return answer(c, outcomes, { data }, 201);
  });
  return api;
}
