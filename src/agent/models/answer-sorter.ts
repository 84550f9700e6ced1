/**
 * Sorts what a model writes, as it comes: the answer is let through; thought (`<think>…</think>`) goes, and calls that are written as
 * text
 * (`<tool_call>…</tool_call>`) are taken out whole. Each character is looked at a bounded number of times.
 */
export class AnswerSorter {
  /** Calls as they were written, with the mark that began them. */
  readonly written: { readonly mark: string; readonly text: string }[] = [];
  /** Whether any thought was taken out. */
  thought = false;
  /**
   * An end of thought was met that had no begin (see {@link AnswerSorterOptions.thinksFirst}): what was let through before it was thought.
   */
  endWithoutBegin = false;
  #inside: Block | null;
  /** Whether the thought that is read was assumed, not marked. */
  #assumed: boolean;
  /** What is inside of a block, or may be the begin of a mark. */
  #pending = "";
  #kept: string[] = [];
  #began = false;
  readonly #bareCalls: boolean;

  constructor({ thinksFirst = false, bareCalls = false }: AnswerSorterOptions = {}) {
    this.#inside = thinksFirst ? (BLOCKS[0] ?? null) : null;
    this.#assumed = thinksFirst;
    this.#bareCalls = bareCalls;
  }

  /** What of the answer can be let through by now. */
  push(delta: string): string {
    this.#pending += delta;
    let out = "";
    for (;;) {
      if (this.#inside !== null) {
        if (!this.#readInside(this.#inside)) return this.#visible(out);
      } else {
        const { before, block } = this.#nextBlock();
        out += before;
        if (block === null) return this.#visible(out);
        this.#inside = block === NOTHING ? null : block;
      }
    }
  }

  /** What is left when the model has ended. A thought without an end stays thought; a call without one is still a call. */
  end(): string {
    const rest = [...this.#kept, this.#pending].join("");
    const inside = this.#inside;
    this.#kept = [];
    this.#pending = "";
    this.#inside = null;
    if (this.#assumed) {
      // There was none: what was held is read as any other text.
      this.#assumed = false;
      const answer = this.push(rest);
      return answer + this.end();
    }
    if (inside === null) return this.#visible(rest);
    if (inside.kind === "call") this.written.push({ mark: inside.open, text: rest });
    else this.thought = true;
    return "";
  }

  /** Reads on to the end of the block; false when it has not come yet. */
  #readInside(block: Block): boolean {
    const at = block.close === null ? -1 : this.#pending.indexOf(block.close);
    if (at === -1 || block.close === null) {
      // All but what may be the begin of the end mark.
      const sure = Math.max(0, this.#pending.length - (block.close?.length ?? 1) + 1);
      if (block.kind === "call" || this.#assumed) this.#kept.push(this.#pending.slice(0, sure));
      else this.thought = true;
      this.#pending = this.#pending.slice(sure);
      return false;
    }
    const inner = [...this.#kept, this.#pending.slice(0, at)].join("");
    if (block.kind === "call") this.written.push({ mark: block.open, text: inner });
    else this.thought = true;
    if (this.#assumed && !inner.trimStart().startsWith(block.open)) this.endWithoutBegin = true;
    this.#pending = this.#pending.slice(at + block.close.length);
    this.#kept = [];
    this.#inside = null;
    this.#assumed = false;
    return true;
  }

  #nextBlock(): { before: string; block: Block | null } {
    const text = this.#pending;
    if (this.#bareCalls && !this.#began && /^\s*\{/.test(text)) {
      this.#pending = text;
      return { before: "", block: BARE };
    }
    MARK.lastIndex = 0;
    for (let found = MARK.exec(text); found !== null; found = MARK.exec(text)) {
      // One in backticks is talked about, not meant.
      if (text[found.index - 1] === "`") continue;
      const block = BLOCKS.find(({ open }) => open === found?.[0]);
      // The first mark of all: what came before it was thought. After another it is one end too many.
      const endsThought = block === undefined && !this.thought && this.written.length === 0;
      if (endsThought) {
        this.endWithoutBegin = true;
        this.thought = true;
        this.#began = false;
      }
      const before = endsThought ? "" : text.slice(0, found.index);
      this.#pending = text.slice(found.index + found[0].length);
      return { before, block: block ?? NOTHING };
    }
    const sure = text.length - beginningMark(text);
    this.#pending = text.slice(sure);
    return { before: text.slice(0, sure), block: null };
  }

  /** White space that parted thought from answer goes with the thought. */
  #visible(text: string): string {
    const visible = !this.#began && (this.thought || this.written.length > 0) ? text.trimStart() : text;
    if (visible.trim() !== "") this.#began = true;
    return visible;
  }
}

export interface AnswerSorterOptions {
  /** The text is known to begin with thought that has no begin mark: held back until its end comes. Default false. */
  readonly thinksFirst?: boolean;
  /** A text that begins with `{` is held back, as it may be a call without any mark. Default false. */
  readonly bareCalls?: boolean;
}

interface Block {
  readonly open: string;
  /** Null: reaches to the end. */
  readonly close: string | null;
  readonly kind: "thought" | "call";
}

const BLOCKS: readonly Block[] = [
  { open: "<think>", close: "</think>", kind: "thought" },
  { open: "<thinking>", close: "</thinking>", kind: "thought" },
  { open: "<thought>", close: "</thought>", kind: "thought" },
  { open: "[THINK]", close: "[/THINK]", kind: "thought" },
  { open: "<tool_call>", close: "</tool_call>", kind: "call" },
  { open: "<function=", close: "</function>", kind: "call" },
  { open: "[TOOL_CALLS]", close: null, kind: "call" },
  { open: "<|python_tag|>", close: null, kind: "call" },
];
/** A whole text that may be one call. */
const BARE: Block = { open: "", close: null, kind: "call" };
/** An end of thought alone: the text goes on. */
const NOTHING: Block = { open: "", close: null, kind: "thought" };
const ENDS = ["</think>", "</thinking>"];
const MARKS = [...BLOCKS.map(({ open }) => open), ...ENDS];
const MARK = new RegExp(MARKS.map((mark) => mark.replace(/[[\]|]/g, "\\$&")).join("|"), "g");

/** How many of the last characters may be the begin of a mark. A backtick is kept with what follows it. */
function beginningMark(text: string): number {
  const longest = Math.max(...MARKS.map(({ length }) => length)) - 1;
  for (let length = Math.min(longest, text.length); length > 0; length -= 1) {
    const tail = text.slice(-length);
    if (MARKS.some((mark) => mark.startsWith(tail))) return text[text.length - length - 1] === "`" ? length + 1 : length;
  }
  return text.endsWith("`") ? 1 : 0;
}
