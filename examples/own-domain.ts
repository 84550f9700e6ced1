/**
 * A product of your own on Maitred, in one file: a prompt and tools instead of the concierge's. Runs without keys: `npx tsx examples/own-domain.ts`.
 * With OPENAI_API_KEY set, a real model uses the tool; without, the stand-in model can only say that it has no script for this domain.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createOrchestrator, type Domain, type Tool } from "maitred";
import { z } from "zod";

const treatments = [
  { id: "t1", name: "Hot stone massage", minutes: 60, price: 95 },
  { id: "t2", name: "Salt bath", minutes: 30, price: 40 },
];

const findTreatments: Tool<{ maxMinutes?: number | undefined }> = {
  name: "find_treatments",
  description: "Lists the spa's treatments, the shortest first.",
  parameters: z.object({ maxMinutes: z.number().int().positive().optional() }),
  run: async ({ maxMinutes = Number.POSITIVE_INFINITY }) => ({
    output: treatments.filter((treatment) => treatment.minutes <= maxMinutes).toSorted((a, b) => a.minutes - b.minutes),
  }),
};

const spa: Domain = {
  name: "spa",
  prompt: "You are the receptionist of a spa. Offer treatments from the tool only; never invent one.",
  tools: [findTreatments],
};

const dir = await mkdtemp(join(tmpdir(), "maitred-spa-"));
const maitred = await createOrchestrator({ ...process.env, MEMORY_STORAGE_DIR: dir, LOG_LEVEL: "warn" }, { domain: spa });
const owner = await maitred.owner("ada");
const answer = await maitred.chat.chat({ owner, message: "I have half an hour. What can you offer?" });
console.log(answer.message.content);
await maitred.close();
await rm(dir, { recursive: true });
