import { readFile } from "node:fs/promises";
import { z } from "zod";
import { type Owner, ownerOf } from "../../src/domain/owner.js";
import type { RecalledMemory } from "../../src/domain/session.js";
import type { Memories, MemoryRecall } from "../../src/ports/memories.js";
import { quantile } from "../quantile.js";

const memorySchema = z.object({
  id: z.string(),
  text: z.string(),
  category: z.string(),
  strength: z.enum(["hard", "soft"]),
  /** Null for the guest. */
  subject: z.string().nullable(),
  scope: z.enum(["standing", "trip"]),
  aspect: z.string().optional(),
});
const messageSchema = z.object({ q: z.string(), must: z.array(z.string()), may: z.array(z.string()) });
const guestSchema = z.object({ guest: z.string(), lang: z.string(), memories: z.array(memorySchema), messages: z.array(messageSchema) });
/** Somebody with memories, and which of them each message needs (`must`), or has a use for (`may`). */
export type OccasionGuest = z.output<typeof guestSchema>;

const unrelatedSchema = z.array(z.object({ text: z.string(), category: z.string(), subject: z.string().optional() }));

export async function readOccasionGuests(file: string | URL): Promise<OccasionGuest[]> {
  const lines = (await readFile(file, "utf8")).split("\n").filter((line) => line.trim() !== "");
  return lines.map((line) => guestSchema.parse(JSON.parse(line)));
}

/** Soft memories that no guest's message needs. */
export async function readUnrelated(file: URL): Promise<z.output<typeof unrelatedSchema>> {
  return unrelatedSchema.parse(JSON.parse(await readFile(file, "utf8")));
}

export interface OccasionScore {
  /** Of what is needed, the share that was given; and of what must hold. */
  readonly must: number;
  readonly hard: number;
  /** Of what was given, the share that was needed or of use; and with the guest's own needs counted as of use. */
  readonly precision: number;
  readonly harmless: number;
  /** Of messages that need nothing, the share that was given nothing; 1 where there is none. */
  readonly idle: number;
  /** Memories a message was given. */
  readonly given: number;
  readonly p95: number;
  /** What went wrong, a line each. */
  readonly notes: readonly string[];
}

interface Counts {
  must: number;
  mustGiven: number;
  hard: number;
  hardGiven: number;
  given: number;
  right: number;
  harmless: number;
  idle: number;
  idleGivenNothing: number;
}

/** What each message of the guests is given of their memories, and of the unrelated ones that they have besides. */
export async function scoreOfOccasions(
  memory: Pick<Memories, "add"> & MemoryRecall,
  guests: readonly OccasionGuest[],
  { unrelated, now, tenant }: { readonly unrelated: z.output<typeof unrelatedSchema>; readonly now: Date; readonly tenant: string },
): Promise<OccasionScore> {
  const counts: Counts = { must: 0, mustGiven: 0, hard: 0, hardGiven: 0, given: 0, right: 0, harmless: 0, idle: 0, idleGivenNothing: 0 };
  const notes: string[] = [];
  const times: number[] = [];
  let messages = 0;
  for (const guest of guests) {
    const owner = ownerOf(tenant, guest.guest.replace(/\W/gu, "-"));
    const ids = await remembered(memory, owner, guest, unrelated, now);
    for (const message of guest.messages) {
      const from = performance.now();
      const { memories } = await memory.recall(owner, { text: message.q, now, deadlineMs: 10_000 });
      times.push(performance.now() - from);
      messages += 1;
      count(counts, guest, message, memories, ids, notes);
    }
  }
  const share = (part: number, of: number) => (of === 0 ? 1 : part / of);
  return {
    must: share(counts.mustGiven, counts.must),
    hard: share(counts.hardGiven, counts.hard),
    precision: share(counts.right, counts.given),
    harmless: share(counts.harmless, counts.given),
    idle: share(counts.idleGivenNothing, counts.idle),
    given: share(counts.given, messages),
    p95: quantile(times, 0.95),
    notes,
  };
}

/** Ids of the store by the guest's, each memory stated by hand a minute after the one before; the unrelated ones first. */
async function remembered(
  memory: Pick<Memories, "add">,
  owner: Owner,
  { memories }: OccasionGuest,
  unrelated: z.output<typeof unrelatedSchema>,
  now: Date,
): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>();
  let stated = 0;
  const state = async (statement: Parameters<Memories["add"]>[1]) => {
    stated += 1;
    return memory.add(owner, statement, { now: new Date(now.getTime() - 86_400_000 + stated * 60_000) });
  };
  for (const each of unrelated) await state(each);
  for (const { id, subject, ...each } of memories) {
    const statement = { ...each, aspect: each.aspect ?? "", subject: subject ?? "self" };
    ids.set((await state(statement)).id, id);
  }
  return ids;
}

function count(
  counts: Counts,
  { guest, memories }: OccasionGuest,
  { q, must, may }: OccasionGuest["messages"][number],
  recalled: readonly RecalledMemory[],
  ids: ReadonlyMap<string, string>,
  notes: string[],
): void {
  const given = recalled.map(({ id, text, why, score }) => ({ id: ids.get(id) ?? text, why: `${why} ${score?.toFixed(2)}` }));
  const has = (id: string) => given.some((each) => each.id === id);
  const isHard = (id: string) => memories.some((each) => each.id === id && each.strength === "hard");
  const isOwnNeed = (id: string) => memories.some((each) => each.id === id && each.strength === "hard" && each.subject === null);
  const right = given.filter(({ id }) => must.includes(id) || may.includes(id));
  const noise = given.filter((each) => !right.includes(each));
  counts.must += must.length;
  counts.mustGiven += must.filter(has).length;
  counts.hard += must.filter(isHard).length;
  counts.hardGiven += must.filter((id) => isHard(id) && has(id)).length;
  counts.given += given.length;
  counts.right += right.length;
  counts.harmless += right.length + noise.filter(({ id }) => isOwnNeed(id)).length;
  if (must.length === 0) {
    counts.idle += 1;
    if (given.length === 0) counts.idleGivenNothing += 1;
  }
  const missed = must.filter((id) => !has(id));
  const odd = noise.filter(({ id }) => !isOwnNeed(id)).map(({ id, why }) => `${id} (${why ?? "?"})`);
  if (missed.length > 0 || odd.length > 0) notes.push(`${guest}: ${q}  MISSED ${missed.join(", ") || "-"}  NOISE ${odd.join(", ") || "-"}`);
}
