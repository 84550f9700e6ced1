import { readFile } from "node:fs/promises";
import { DEFAULT_TENANT, ownerOf } from "../domain/owner.js";
import { addScore, type Conversation, conversationsIn, emptyScore, type Score } from "../operations/evaluation-set.js";
import { type ReplayTrial, readMessages } from "../operations/replay-turn.js";
import { EXIT, type ExitCode } from "./errors.js";
import { everyMemory } from "./replay.js";
import { printable, type Terminal } from "./terminal.js";

const DAY_MS = 86_400_000;

/** Reads conversations with the configured model, and tells what of what is expected was remembered. */
export async function evalCommand(
  terminal: Terminal,
  file: string,
  {
    open,
    signal,
    minKept,
    notes,
    now,
  }: {
    readonly open: () => Promise<ReplayTrial>;
    readonly signal: AbortSignal;
    /** Share of what is expected. */
    readonly minKept: number;
    readonly notes: boolean;
    readonly now: Date;
  },
): Promise<ExitCode> {
  const conversations = conversationsIn(await readFile(file, "utf8"));
  const score = emptyScore();
  const trial = await open();
  try {
    await terminal.during("Conversations", async (onProgress) => {
      for (const [place, conversation] of conversations.entries()) {
        signal.throwIfAborted();
        const owner = ownerOf(DEFAULT_TENANT, `eval-${place}`);
        await readMessages(trial, owner, aMessageADay(conversation, now), { signal });
        addScore(score, conversation, await everyMemory(trial, owner));
        onProgress(place + 1, conversations.length);
      }
    });
  } finally {
    await trial.close({ drainMs: 0 });
  }
  return tellScore(terminal, conversations.length, score, { minKept, notes });
}

/** The last of them now. */
function aMessageADay({ messages }: Conversation, now: Date): object[] {
  return messages.map((content, place) => ({
    session_id: "eval",
    role: "user",
    content,
    created_at: new Date(now.getTime() - (messages.length - 1 - place) * DAY_MS).toISOString(),
  }));
}

function tellScore(
  terminal: Terminal,
  conversations: number,
  { notes: noted, ...score }: Score,
  { minKept, notes }: { readonly minKept: number; readonly notes: boolean },
): ExitCode {
  const kept = score.expected === 0 ? 1 : score.kept / score.expected;
  const passed = kept >= minKept && score.hardLost === 0 && score.wrongHard === 0;
  terminal.result({ conversations, ...score, passed, ...(notes && { notes: noted }) });
  for (const note of notes ? noted : []) terminal.line(printable(note));
  const { green, red } = terminal.colours;
  const rows: readonly (readonly [string, string])[] = [
    ["Expected", String(score.expected)],
    ["Kept", `${score.kept} (${(kept * 100).toFixed(1)} %)`],
    ["Asked about", `${score.asked}, with ${score.questions} questions in all`],
    ["Lost", `${score.lost}, of which must hold: ${score.hardLost}`],
    ["Wrong", `${score.wrong}, of which must hold: ${score.wrongHard}`],
  ];
  for (const [name, told] of rows) terminal.line(`${name.padEnd(12)}${told}`);
  terminal.line(passed ? green("Passed.") : red("Not passed: see what was lost or is wrong with --notes."));
  return passed ? EXIT.ok : EXIT.attention;
}
