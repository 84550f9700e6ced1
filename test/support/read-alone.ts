import type { SentenceJudge } from "../../packages/offline/src/learnt/sentence-judge.js";
import type { Memory } from "../../src/domain/memory.js";
import { ownerOf } from "../../src/domain/owner.js";
import type { ProposedOperation, Reading } from "../../src/ports/extraction.js";
import { memoryOf } from "./memory-of.js";
import { standInReader } from "./stand-in.js";

const SAID = new Date("2026-03-11T10:00:00Z");
const MESSAGE = { owner: ownerOf("default", "ann"), session_id: "s", turn: 3, message_id: "m", stated_at: SAID, time_zone: "UTC" };

/** What the stand-in reads in one message, behind what the guest said before; by rules alone where no judge is given. */
export async function readAlone(
  text: string,
  judge: SentenceJudge | null = null,
  known: readonly Memory[] = [],
  before: readonly string[] = [],
): Promise<readonly ProposedOperation[]> {
  return (await readingOf(text, judge, known, before)).operations;
}

/** All of such a reading. */
export async function readingOf(
  text: string,
  judge: SentenceJudge | null = null,
  known: readonly Memory[] = [],
  before: readonly string[] = [],
): Promise<Reading> {
  const { signal } = new AbortController();
  const context = before.map((content) => ({ role: "user" as const, content }));
  return standInReader(judge).read({ ...MESSAGE, text, context, known }, { signal });
}

/** The same as memories, as they would be known afterwards. */
export async function readKnowing(text: string, judge: SentenceJudge | null = null): Promise<readonly Memory[]> {
  return (await readAlone(text, judge)).map((operation, index) => memoryOf(operation, `known-${index}`, SAID));
}
