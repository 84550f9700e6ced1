import type { RecalledMemory, RecallStatus } from "../domain/session.js";
import type { ToConfirm } from "../domain/to-confirm.js";
import { asOneLine, dayOf, sinceMonth, timeLine } from "../platform/rendering.js";
import {
  ASKED_ENOUGH,
  ASKED_NOT_TO_KEEP,
  CONTEXT_HEADINGS,
  MEMORY_IS_OFF,
  MESSAGE_BEGINS,
  memoryMark,
  NOW_BEGINS,
  SUMMARY_ENDS,
} from "../ports/context-headings.js";
import type { HistoryHit } from "../ports/resources.js";

const MEMORIES = "memories";

/** Of the words that a change comes from, in characters. */
const MAX_QUOTE = 200;

/** What a turn's last message says before the user's words. */
export interface VolatileParts {
  readonly recalled: readonly RecalledMemory[];
  /** How recall went. Default: as it should. */
  readonly memoryStatus?: RecallStatus;
  /** What waits for the user's word. Default: nothing. */
  readonly toConfirm?: readonly ToConfirm[];
  /** As {@link toConfirm}, and not to be asked about again. */
  readonly toSettle?: readonly ToConfirm[];
  /** What became of what the message before said; the empty string where there is nothing to say. */
  readonly before?: string;
  /** What the user said in other conversations and nobody has read yet, oldest first. Default: nothing. */
  readonly unread?: readonly string[];
  /** What the user said before this message and was not answered, oldest first. Default: nothing. */
  readonly unanswered?: readonly string[];
  readonly history: readonly HistoryHit[];
  readonly pageContext: string | null;
  readonly now: Date;
  /** IANA name. */
  readonly timeZone: string;
}

const MAY_BE_MISSING =
  "something that is known of the user may be missing here. Don't claim to know nothing of them: say so where it matters, and ask.";

/** What the model is told where memories may be missing. */
export const MEMORY_WAS: Partial<Record<RecallStatus, string>> = {
  timeout: `Memory was slow this time: ${MAY_BE_MISSING}`,
  degraded: `Memory could not be read whole this time: ${MAY_BE_MISSING}`,
};

/** The last user message as it is sent: what changes with every turn, as data, memories with their marks; then the user's own words. */
export function lastMessage(known: readonly ContextBlock[], markedMemories: string, question: string): string {
  const texts = known.map(({ name, text }) => (name === MEMORIES ? markedMemories : text));
  return `${texts.join("\n\n")}\n\n${MESSAGE_BEGINS}\n${question}`;
}

/** A piece of what a model is given. */
export interface ContextBlock {
  readonly name: string;
  readonly text: string;
}

/** What stands in the last message before the user's words, in its order; nothing empty. */
export function volatileBlocks(parts: VolatileParts, userContext: string): readonly ContextBlock[] {
  const {
    toConfirm = [],
    toSettle = [],
    before = "",
    unread = [],
    unanswered = [],
    history,
    pageContext,
    now,
    timeZone,
    memoryStatus = "ok",
  } = parts;
  const refs = history.map((hit, index) => referenceLine(hit, index, { you: "you", now, timeZone }));
  const blocks: Readonly<Record<string, string>> = {
    now: [`${NOW_BEGINS} ${timeLine(now, timeZone)}`, memoryLineOf(memoryStatus)].filter((line) => line !== "").join("\n"),
    [MEMORIES]: userContext,
    to_confirm: block("toConfirm", [...toConfirm.map(toConfirmLine), ...toSettle.map((waiting) => waitingLine(waiting, ASKED_ENOUGH))]),
    before: block("before", before === "" ? [] : [item(before)]),
    unread: block("unread", unread.map(item)),
    history: block("references", refs),
    unanswered: block("unanswered", unanswered.map(item)),
    page_context: block("pageContext", pageContext === null ? [] : [item(pageContext)]),
  };
  return Object.entries(blocks).flatMap(([name, text]) => (text === "" ? [] : [{ name, text }]));
}

/** How recall went, where it is to be told. */
function memoryLineOf(status: RecallStatus): string {
  return status === "disabled" ? MEMORY_IS_OFF : (MEMORY_WAS[status] ?? "");
}

/** The summary as a message of its own: each of its lines is an item. */
export function renderSummary(summary: string): string {
  const lines = summary.split("\n").filter((line) => line.trim() !== "");
  return [CONTEXT_HEADINGS.summary, ...lines.map(item), SUMMARY_ENDS].join("\n");
}

/** What is known of the user: plain, as a prompt has it with a mark a memory, and the ids of the memories in the order of their marks. */
export interface UserContext {
  /** The empty string, or `User Context:` and a line a memory, none twice. */
  readonly text: string;
  readonly marked: string;
  readonly citable: readonly string[];
}

export function renderUserContext(recalled: readonly RecalledMemory[], now: Date, timeZone: string): UserContext {
  const ids = new Map<string, string>();
  for (const memory of recalled) {
    const line = memoryLine(memory, now, timeZone);
    if (!ids.has(line)) ids.set(line, memory.id);
  }
  const lines = [...ids.keys()];
  const marked = lines.map((line, index) => line.replace(/^- /, () => `- ${memoryMark(index + 1)} `));
  return { text: block("userContext", lines), marked: block("userContext", marked), citable: [...ids.values()] };
}

export function memoryLine(memory: RecalledMemory, now: Date, timeZone: string): string {
  const { text, category, strength, condition = "" } = memory;
  const start = new Date(memory.valid_from ?? memory.created_at);
  const begins = memory.valid_from !== undefined && start > now ? `from ${dayOf(start, now, timeZone)}` : "";
  const since = strength === "hard" || begins !== "" ? "" : sinceMonth(start, now, timeZone);
  const ends = memory.valid_until === undefined ? "" : `until ${lastDayOf(memory.valid_until, now, timeZone)}`;
  const standing = [strength === "hard" ? "must hold" : "", begins, since, ends].filter((words) => words !== "").join(" ");
  // Many a text says it already.
  const when = text.toLowerCase().includes(condition.toLowerCase()) ? "" : `, only ${condition}`;
  return item(`${whose(memory.subject)}${text} (${category}, ${standing}${when})`);
}

/** An end at midnight is that of the day before. */
function lastDayOf(end: string, now: Date, timeZone: string): string {
  return dayOf(new Date(Date.parse(end) - 1000), now, timeZone);
}

/** `you`: whom the block is for, as it names them. */
export function referenceLine(
  hit: HistoryHit,
  index: number,
  { you, now, timeZone }: { readonly you: string; readonly now: Date; readonly timeZone: string },
): string {
  const who = hit.role === "user" ? "the user" : you;
  return item(`Ref #${index + 1} (${dayOf(new Date(hit.created_at), now, timeZone)}, said by ${who}): ${asOneLine(hit.content)}`);
}

/**
 * `- <id>: <text> (<category>, must hold)`. A change is told with the words that it comes from: a death is no recovery, and to be asked
 * about as what it is.
 */
export function toConfirmLine(waiting: ToConfirm): string {
  return waitingLine(waiting, "");
}

function waitingLine({ id, text, category, strength, subject, change, quote, reason }: ToConfirm, mark: string): string {
  const words = change === undefined || reason === "brought_along" ? "" : quote.slice(0, MAX_QUOTE).replace(/[()]/gu, " ").trim();
  const asked = reason === "off_record" ? `; ${ASKED_NOT_TO_KEEP}` : "";
  const said = words === "" ? asked : `; they said: “${words}”`;
  return item(
    `${id}: ${whose(subject)}${text} (${category}${strength === "hard" ? ", must hold" : ""}${said}${mark === "" ? "" : `; ${mark}`})`,
  );
}

function block(heading: keyof typeof CONTEXT_HEADINGS, lines: readonly string[]): string {
  return lines.length === 0 ? "" : [CONTEXT_HEADINGS[heading], ...lines].join("\n");
}

/** Text of others, on one line that begins as no heading does. */
export function item(text: string): string {
  return `- ${asOneLine(text)}`;
}

/** A companion by name. */
function whose(subject: string | undefined): string {
  return subject?.startsWith("companion:") ? `${subject.slice("companion:".length)}: ` : "";
}

/** Pieces of what a model was given, by name, made again from what is kept of the turn; those that can't be are left out. Pure. */
export function rebuiltBlocks(from: {
  readonly prompt: string;
  readonly question: string;
  readonly pageContext: string | null;
  readonly recalled: readonly RecalledMemory[];
  readonly now: Date;
  readonly timeZone: string;
}): Readonly<Record<string, string>> {
  const { prompt, question, recalled, now, timeZone } = from;
  const volatile = volatileBlocks({ ...from, history: [] }, renderUserContext(recalled, now, timeZone).text);
  return { prompt, question, ...Object.fromEntries(volatile.map(({ name, text }) => [name, text])) };
}
