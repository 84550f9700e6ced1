import { type ExportedMemory, type ExportedSession, parseExport } from "../domain/export-format.js";
import type { Memory } from "../domain/memory.js";
import type { Owner } from "../domain/owner.js";
import {
  type ComparedMemory,
  type MemoryDifferences,
  memoryDifferences,
  onlyOf,
  type ReplayedAnswer,
  type ReplayTrial,
  readMessages,
  replayTurn,
  type TurnToReplay,
  takeExport,
} from "../operations/replay-turn.js";
import { everyItem } from "../ports/pages.js";
import { EXIT, type ExitCode } from "./errors.js";
import { printable, type Terminal } from "./terminal.js";

type Replayed = Pick<TurnToReplay, "owner" | "exported" | "signal"> & { readonly open: () => Promise<ReplayTrial> };

const PAGE = 200;

/**
 * Forms the memories of a user's conversations anew, and tells what is different. Ends with 6 where more is lost than may be.
 */
export async function replayMemoriesCommand(
  terminal: Terminal,
  { owner, exported, open, signal }: Replayed,
  { mayLose, mayLoseNeeds }: { readonly mayLose: number; readonly mayLoseNeeds: number },
): Promise<ExitCode> {
  const document = parseExport(JSON.parse(exported));
  const messages = document.sessions.flatMap(replayable);
  const trial = await open();
  try {
    await takeExport(trial, owner, onlyOf(document, { forgotten: document.forgotten }), signal);
    await terminal.during("Reading", (onProgress) => readMessages(trial, owner, messages, { signal, onProgress }));
    const after = (await everyMemory(trial, owner)).flatMap(comparable);
    return tell(terminal, memoryDifferences(document.memories.flatMap(comparable), after), {
      messages: messages.length,
      mayLose,
      mayLoseNeeds,
    });
  } finally {
    await trial.close({ drainMs: 0 });
  }
}

/** Answers a turn that was answered once more, and tells both answers. */
export async function replayTurnCommand(terminal: Terminal, turn: TurnToReplay): Promise<ExitCode> {
  const { recorded, replayed } = await replayTurn(turn);
  const told = [["As it was answered", "recorded", recorded] as const, ["Replayed", "replayed", replayed] as const];
  terminal.result(Object.fromEntries(told.map(([, name, answer]) => [name, answer && shapeOf(answer)])));
  const { bold } = terminal.colours;
  for (const [title, , answer] of told) {
    terminal.line(bold(title));
    terminal.line(answer === null ? "It was not answered." : printable(answer.content));
    if (answer !== null && answer.tools.length > 0) terminal.line(`  by ${answer.tools.join(", ")}`);
    for (const { text } of answer?.recalled ?? []) terminal.line(`  knew: ${printable(text)}`);
    terminal.line();
  }
  return EXIT.ok;
}

function shapeOf({ content, tools, recalled }: ReplayedAnswer): object {
  return { content, steps: tools, recalled: recalled?.map(({ text }) => text) ?? null };
}

/** A session's messages as they are imported: not what was taken back, nor what was not to be remembered. */
function replayable({ id, status, metadata, messages }: ExportedSession): object[] {
  if (status === "deleted" || metadata.incognito === true) return [];
  return messages
    .filter(({ rewound, interim, role, remember }) => !rewound && interim !== true && (role !== "user" || remember))
    .map(({ role, content, created_at, id: messageId }) => ({ session_id: id, role, content, created_at, message_id: messageId }));
}

export async function everyMemory({ memories }: Pick<ReplayTrial, "memories">, owner: Owner): Promise<readonly Memory[]> {
  const all: Memory[] = [];
  for (const status of ["active", "review"] as const)
    for await (const memory of everyItem((at) => memories.list(owner, { status, limit: PAGE, ...at }))) all.push(memory);
  return all;
}

/** What came of a message and stands: neither what was added by hand nor what was made of others. */
function comparable(memory: ExportedMemory | Memory): readonly ComparedMemory[] {
  const { text, category, need, subject, strength, status, stated_at, source, type } = memory;
  if (type === "narrative" || source === null || source.message_id.startsWith("by-hand:")) return [];
  return status === "active" || status === "review"
    ? [{ text, category, need, subject, strength, status, stated_at, quote: source.quote }]
    : [];
}

function tell(
  terminal: Terminal,
  differences: MemoryDifferences,
  { messages, mayLose, mayLoseNeeds }: { readonly messages: number; readonly mayLose: number; readonly mayLoseNeeds: number },
): ExitCode {
  const { same, added, lost, changed, needs_lost } = differences;
  const { green, red, yellow, bold } = terminal.colours;
  const isOver = lost.length > mayLose || needs_lost.length > mayLoseNeeds;
  terminal.result({ messages, ...differences, passed: !isOver });
  for (const each of added) terminal.line(green(`+ ${lineOf(each)}`));
  for (const pair of changed) terminal.line(yellow(`~ ${lineOf(pair.before)} → ${lineOf(pair.after)}`));
  for (const each of lost) terminal.line(`- ${lineOf(each)}`);
  for (const each of needs_lost)
    terminal.line(bold(red(`! a need is lost: ${lineOf(each)}${each.quote === null ? "" : ` (“${printable(each.quote)}”)`}`)));
  terminal.line(`${messages} messages: ${same} memories the same, ${added.length} added, ${changed.length} changed, ${lost.length} lost.`);
  return isOver ? EXIT.attention : EXIT.ok;
}

function lineOf({ text, strength, status, subject }: ComparedMemory): string {
  const marks = [subject === "self" ? "" : subject, strength === "hard" ? "must hold" : "", status === "review" ? "waits" : ""];
  const told = marks.filter((mark) => mark !== "").join(", ");
  return printable(told === "" ? text : `${text} (${told})`);
}
