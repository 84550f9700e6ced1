import type { RecalledMemory, RecallStatus, Round } from "../domain/session.js";
import type { ToConfirm } from "../domain/to-confirm.js";
import type { TokenCounter } from "../platform/tokens.js";
import { CONTEXT_BEGINS, CONTEXT_ENDS, CONTEXT_HEADINGS } from "../ports/context-headings.js";
import type { HistoryHit } from "../ports/resources.js";
import type { Recap } from "./context.js";
import { item, MEMORY_WAS, memoryLine, referenceLine, toConfirmLine } from "./context-blocks.js";
import { cutTo } from "./cut.js";

/** What is known, for a prompt that somebody else writes. */
export interface PromptParts {
  readonly status: RecallStatus;
  /** What must hold. Never left out. */
  readonly constraints: readonly RecalledMemory[];
  readonly toConfirm: readonly ToConfirm[];
  /** Standing preferences, then what is like the query, each the most important first. */
  readonly memories: readonly RecalledMemory[];
  readonly summary: string | null;
  /** The last turn that the summary tells: where it is told, its rounds are not told again. */
  readonly summarisedTo: number;
  /** What the user said in other conversations and nobody has read yet, oldest first. */
  readonly unread: readonly string[];
  readonly history: readonly HistoryHit[];
  /** Oldest first. */
  readonly rounds: readonly Round[];
  readonly recap?: Recap;
  readonly now: Date;
  /** IANA name. */
  readonly timeZone: string;
}

type Heading = keyof typeof CONTEXT_HEADINGS;
/** In the order in which they are shown. */
const SHOWN: readonly Heading[] = ["userContext", "toConfirm", "unread", "summary", "references", "conversation"];

interface Piece {
  readonly heading: Heading;
  readonly lines: readonly string[];
  /** Before those of its heading that were chosen earlier: rounds are chosen newest first. */
  readonly inFront?: boolean;
}

/** Of the budget: what the summary, history, and a tool's output may take each. */
const LARGEST_SHARE = 0.25;
const TOOL_SHARE = 0.05;
/** No token is longer, but for runs of one character. */
const CHARS_PER_TOKEN = 32;

/**
 * One block of text, within `maxTokens`, or the empty string where nothing is known. It says where it begins and ends and that it is data;
 * each item is one line that begins with `- `. What must hold comes first and is never left out, also where it alone takes more. Then, as
 * far as they fit: what waits, preferences, the summary, what was said in other sessions, and of the conversation the newest
 * rounds, whole. Pure.
 */
export function promptBlock(
  parts: PromptParts,
  { maxTokens, counter }: { readonly maxTokens: number; readonly counter: TokenCounter },
): { readonly text: string; readonly tokens: number; readonly memories: ReadonlySet<string> } {
  const chosen: Piece[] = mustBeTold(parts);
  let tokens = counter.count(textOf(parts, chosen));
  const tryPiece = (piece: Piece): boolean => {
    if (piece.lines.reduce((chars, line) => chars + line.length, 0) > maxTokens * CHARS_PER_TOKEN) return false;
    const heading = chosen.some((each) => each.heading === piece.heading) ? [] : ["", CONTEXT_HEADINGS[piece.heading]];
    const more = counter.count(["", ...heading, ...piece.lines].join("\n"));
    if (tokens + more > maxTokens) return false;
    chosen.push(piece);
    tokens += more;
    return true;
  };
  const fixed = chosen.length;
  const share = Math.floor(maxTokens * LARGEST_SHARE);
  for (const waiting of parts.toConfirm)
    if (waiting.strength !== "hard") tryPiece({ heading: "toConfirm", lines: [toConfirmLine(waiting)] });
  const lines = new Set(parts.constraints.map((memory) => memoryLine(memory, parts.now, parts.timeZone)));
  for (const memory of parts.memories) {
    const line = memoryLine(memory, parts.now, parts.timeZone);
    if (!lines.has(line)) tryPiece({ heading: "userContext", lines: [line] });
    lines.add(line);
  }
  for (const text of parts.unread) tryPiece({ heading: "unread", lines: [item(text)] });
  const isSummarised =
    parts.summary !== null && tryPiece({ heading: "summary", lines: linesOf(cutTo(parts.summary, share, counter)).map(item) });
  const ofEachHit = Math.floor(share / Math.max(1, parts.history.length));
  for (const [index, hit] of parts.history.entries()) {
    const short = { ...hit, content: cutTo(hit.content, ofEachHit, counter) };
    tryPiece({ heading: "references", lines: [referenceLine(short, index, { you: "the assistant", ...parts })] });
  }
  for (const round of parts.rounds.toReversed()) {
    if (isSummarised && round.turn <= parts.summarisedTo) break;
    const said = roundLines(round, parts.recap, (text) => cutTo(text, Math.floor(maxTokens * TOOL_SHARE), counter));
    if (!tryPiece({ heading: "conversation", lines: said, inFront: true })) break;
  }
  for (;;) {
    const text = textOf(parts, chosen);
    const taken = counter.count(text);
    // Pieces may take more together than each by itself.
    if (taken <= maxTokens || chosen.length === fixed) return { text, tokens: taken, memories: linesUnder("userContext", chosen) };
    chosen.pop();
  }
}

function linesUnder(heading: Piece["heading"], pieces: readonly Piece[]): ReadonlySet<string> {
  return new Set(pieces.flatMap((piece) => (piece.heading === heading ? piece.lines : [])));
}

function mustBeTold({ constraints, toConfirm, now, timeZone }: PromptParts): Piece[] {
  const hold = [...new Set(constraints.map((memory) => memoryLine(memory, now, timeZone)))];
  const wait = toConfirm.filter(({ strength }) => strength === "hard").map(toConfirmLine);
  return [
    ...(hold.length > 0 ? [{ heading: "userContext" as const, lines: hold }] : []),
    ...(wait.length > 0 ? [{ heading: "toConfirm" as const, lines: wait }] : []),
  ];
}

function textOf({ status }: PromptParts, pieces: readonly Piece[]): string {
  const blocks = SHOWN.flatMap((heading) => {
    let lines: string[] = [];
    for (const piece of pieces)
      if (piece.heading === heading) lines = piece.inFront ? [...piece.lines, ...lines] : [...lines, ...piece.lines];
    return lines.length === 0 ? [] : [[CONTEXT_HEADINGS[heading], ...lines].join("\n")];
  });
  const note = MEMORY_WAS[status];
  const known = [...(note === undefined ? [] : [note]), ...blocks];
  return known.length === 0 ? "" : [CONTEXT_BEGINS, known.join("\n\n"), CONTEXT_ENDS].join("\n");
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line.trim() !== "");
}

function roundLines({ user, steps, interim = [], assistant }: Round, recap: Recap = (_, output) => output, cut: (text: string) => string) {
  const tools = steps.map(
    ({ name, output, error }) => `Tool ${name}: ${cut(JSON.stringify(error === null ? recap(name, output) : { error }))}`,
  );
  const answers = [...interim, assistant].map(({ body }) => `Assistant: ${body.content}`);
  return [`User: ${user.body.content}`, ...tools, ...answers].map(item);
}
