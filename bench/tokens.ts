import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { compose } from "../src/compose/compose.js";
import { parseConfig } from "../src/compose/config.js";
import { ownerOf } from "../src/domain/owner.js";
import { BUSY_STORY } from "./tokens/busy-story.js";
import { EVENING, longConversation, type ScriptedTurn } from "./tokens/conversation.js";
import { everything, type Figures, figuresOf, stablePrefix } from "./tokens/figures.js";
import { mayNote, ScriptedProvider, type Sent } from "./tokens/provider.js";
import { STORY } from "./tokens/story.js";

/**
 * What a conversation costs: calls and tokens by task of two stories of 40 turns with the concierge, of 12 turns and of 200, counted from the
 * requests themselves as they went to a scripted provider over loopback: all of it, what no request before began with, and what came back;
 * the part of them that a provider can keep from one call to the next; beside sending the whole conversation with each call, and beside what
 * the same conversations cost before (commits 15b1af0 and 7a268ee, by the same provider). Of the stories, whether they are remembered as
 * they are when each message is read by itself.
 *
 * `npm run bench:tokens -- [--turns 200] [--check]`; with --check ends with 1 when the first story takes more than 60 calls, 250,000 tokens or
 * 90,000 uncached ones, or keeps less than 92 % of its prefix, when one of them is remembered otherwise, when 12 turns take more than 75 % of
 * the chat input or 75 % of the extraction calls of before, or when less than 85 % of the long conversation's prefix is stable.
 */
const { values } = parseArgs({ options: { turns: { type: "string", default: "200" }, check: { type: "boolean", default: false } } });

/** The 12 turns at commit 7a268ee, played by this provider and counted in the same way. */
const BEFORE = { calls: 18, input: 85_002, extractionCalls: 12, extractionInput: 11_420 };
/** The story at commit 15b1af0, where each message of more than three words was read by itself, by the same provider. */
const STORY_BEFORE = { calls: 91, input: 306_181, uncached: 46_725, prefix: 0.912 };
const STORY_MOST = { calls: 60, tokens: 250_000, uncached: 90_000 };
const STORY_PREFIX = 0.92;
const MOST = { chatInput: 0.75, extractionCalls: 0.75 };
const LEAST_PREFIX = 0.85;
const TASKS = ["chat", "extraction", "summary", "title"] as const;

interface Played {
  readonly sent: readonly Sent[];
  /** What is remembered in the end: text, category, strength, status, from which turn. */
  readonly memories: readonly string[];
}

async function play(turns: readonly ScriptedTurn[], variables: Readonly<Record<string, string>> = {}): Promise<Played> {
  mayNote(turns);
  const dir = await mkdtemp(join(tmpdir(), "maitred-bench-tokens-"));
  const provider = await ScriptedProvider.open();
  const config = parseConfig({
    MEMORY_STORAGE_DIR: dir,
    OPENAI_BASE_URL: provider.url,
    OPENAI_API: "chat",
    EMBEDDING_PROVIDER: "hashing",
    RECALL_DEADLINE_MS: "10000",
    ...variables,
  });
  const maitred = await compose(config);
  try {
    const owner = ownerOf("default", "bench");
    let sessionId: string | undefined;
    for (const turn of turns) {
      provider.play(turn);
      const answer = await maitred.chat.chat({ owner, message: turn.message, ...(sessionId !== undefined && { sessionId }) });
      sessionId = answer.session_id;
      // What may wait does: nobody drains a server that runs.
      if (!(await maitred.parts.worker.drain(60_000, { left: "stays" }))) throw new Error("The write-back did not keep up.");
    }
    const { data } = await maitred.parts.longTerm.list(owner, { limit: 100 });
    // The story of the relationship comes from no message, and is written when it is due.
    const memories = data.flatMap(({ text, category, strength, status, need, subject, source }) =>
      source === null ? [] : [`${source.turn}: ${[text, category, strength, status, need, subject].join(", ")}`],
    );
    return { sent: provider.sent, memories: memories.toSorted() };
  } finally {
    await maitred.close({ drainMs: 0 });
    await provider.close();
    await rm(dir, { recursive: true });
  }
}

function report(turns: readonly ScriptedTurn[], sent: readonly Sent[]): void {
  say(`\n${turns.length} turns`);
  for (const task of TASKS) {
    row(task, figuresOf(sent, task));
  }
  row("all", figuresOf(sent));
  const chat = figuresOf(sent, "chat").input;
  const whole = everything(
    sent,
    turns.map(({ message, answer, calls }) => ({ message, answer, calls: calls.length + 1 })),
  );
  say(`  sending everything with each chat call: ${whole.toLocaleString("en")}; this is ${percent(chat / whole)} of it`);
  say(`  stable prefix: ${percent(stablePrefix(sent))}`);
}

/** True where it is remembered as it is when nothing waits to be read. */
async function isRemembered(turns: readonly ScriptedTurn[], { memories }: Played): Promise<boolean> {
  const each = await play(turns, { EXTRACTION_IDLE_MS: "0" });
  const told = new Set(memories);
  const isSame = memories.length === each.memories.length && each.memories.every((memory) => told.has(memory));
  const noted = turns.flatMap(({ notes }) => notes).length;
  say(`  remembered: ${memories.length} of ${noted}; ${isSame ? "the same" : "NOT the same"} as where nothing waits to be read:`);
  for (const memory of memories) say(`    ${memory}`);
  return isSame && memories.length === noted;
}

const story = await play(STORY);
report(STORY, story.sent);
const isWhole = await isRemembered(STORY, story);
const all = figuresOf(story.sent);
say(
  `  beside commit 15b1af0: calls ${all.calls} (${STORY_BEFORE.calls}), input ${all.input.toLocaleString("en")} ` +
    `(${STORY_BEFORE.input.toLocaleString("en")}), uncached ${all.uncached.toLocaleString("en")} (${STORY_BEFORE.uncached.toLocaleString("en")}), ` +
    `stable prefix ${percent(stablePrefix(story.sent))} (${percent(STORY_BEFORE.prefix)})`,
);
const storyReached =
  isWhole &&
  all.calls <= STORY_MOST.calls &&
  all.input + all.output <= STORY_MOST.tokens &&
  all.uncached <= STORY_MOST.uncached &&
  stablePrefix(story.sent) >= STORY_PREFIX;
const busy = await play(BUSY_STORY);
report(BUSY_STORY, busy.sent);
const isBusyWhole = await isRemembered(BUSY_STORY, busy);
const { sent: evening } = await play(EVENING);
const long = longConversation(Number(values.turns));
const { sent: longSent } = await play(long);
report(EVENING, evening);
report(long, longSent);

const chat = figuresOf(evening, "chat").input / BEFORE.input;
const extraction = figuresOf(evening, "extraction").calls / BEFORE.extractionCalls;
const prefix = stablePrefix(longSent);
say(`\n12 turns beside commit 7a268ee (${BEFORE.calls} chat calls, ${BEFORE.input.toLocaleString("en")} input tokens;`);
say(`${BEFORE.extractionCalls} extraction calls, ${BEFORE.extractionInput.toLocaleString("en")}):`);
say(
  `  chat input ${percent(chat)} (at most ${percent(MOST.chatInput)}), extraction calls ${percent(extraction)} (at most ${percent(MOST.extractionCalls)})`,
);
say(`  stable prefix of ${long.length} turns ${percent(prefix)} (at least ${percent(LEAST_PREFIX)})`);
const reached = storyReached && isBusyWhole && chat <= MOST.chatInput && extraction <= MOST.extractionCalls && prefix >= LEAST_PREFIX;
if (values.check && !reached) process.exitCode = 1;

function row(name: string, { calls, input, uncached, output }: Figures): void {
  const count = (value: number) => value.toLocaleString("en").padStart(10);
  say(`  ${name.padEnd(12)}${String(calls).padStart(5)} calls ${count(input)} in ${count(uncached)} uncached ${count(output)} out`);
}

function percent(part: number): string {
  return `${(part * 100).toFixed(1)} %`;
}

function say(line: string): void {
  console.log(line);
}
