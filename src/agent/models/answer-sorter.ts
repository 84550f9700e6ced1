import type { JsonValue, Usage } from "../../domain/session.js";
import type { FinishReason, ModelToolCall } from "../../ports/chat-model.js";
import {
  BARE,
  BLOCKS,
  type Block,
  ENDS,
  FENCE,
  MARK,
  mayBeCalls,
  mayBecomeLonger,
  mayBecomeMark,
  STRIPPED,
  withoutTokens,
} from "./answer-marks.js";

/** What an adapter reads off its endpoint, before it is sorted into what a caller of {@link ChatModel} gets. */
export type ProviderEvent =
  /** As the model wrote it: thought and calls may stand in it. */
  | { readonly type: "text"; readonly delta: string }
  /** Thought that the endpoint tells apart. */
  | { readonly type: "thought" }
  | { readonly type: "call"; readonly call: ModelToolCall }
  /** Always last. `state`: what must go back with the calls. */
  | { readonly type: "end"; readonly reason: FinishReason; readonly usage: Usage; readonly state?: JsonValue };

/**
 * Sorts what a model writes, as it comes: the answer is let through; thought (`<think>…</think>`, an analysis channel) goes, calls that are
 * written as text (`<tool_call>…</tool_call>`, in a fence, as `[name(…)]`) are taken out whole, and so are tokens of its template. Each
 * character is looked at a bounded number of times.
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
  /** Whether what was held at the beginning has been found to be text. */
  #isRead = false;
  /** What is inside of a block, or may be the begin of a mark. */
  #pending = "";
  #kept: string[] = [];
  #began = false;
  readonly #isCall: AnswerSorterOptions["isCall"];

  constructor({ thinksFirst = false, isCall }: AnswerSorterOptions = {}) {
    this.#inside = thinksFirst ? (BLOCKS[0] ?? null) : null;
    this.#assumed = thinksFirst;
    this.#isCall = isCall;
  }

  /** What of the answer can be let through by now. */
  push(delta: string): string {
    this.#pending += delta;
    let out = "";
    for (;;) {
      if (this.#inside !== null) {
        const passed = this.#readInside(this.#inside);
        if (passed === null) return this.#visible(out);
        out += passed;
      } else {
        const { before, block } = this.#nextBlock();
        out += before;
        if (block === null) return this.#visible(out);
        if (block === "mark") continue;
        this.#inside = block;
        this.#assumed = block === STRIPPED;
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
      this.#isRead = true;
      const answer = this.push(rest);
      return answer + this.end();
    }
    if (inside === null) return this.#visible(withoutTokens(rest));
    if (inside === FENCE && this.#isCall?.(rest) !== true) return this.#visible(`${FENCE.open}${rest}`);
    if (inside.kind === "call") this.written.push({ mark: inside.open, text: rest });
    else this.thought = true;
    return "";
  }

  /** Reads on to the end of the block: what of it is text all the same. Null when its end has not come yet. */
  #readInside(block: Block): string | null {
    const at = block.close === null ? -1 : this.#pending.indexOf(block.close);
    if (at === -1 || block.close === null) {
      // All but what may be the begin of the end mark.
      const sure = Math.max(0, this.#pending.length - (block.close?.length ?? 1) + 1);
      if (block.kind === "call" || this.#assumed) this.#kept.push(this.#pending.slice(0, sure));
      else this.thought = true;
      this.#pending = this.#pending.slice(sure);
      return null;
    }
    const inner = [...this.#kept, this.#pending.slice(0, at)].join("");
    const isText = block === FENCE && this.#isCall?.(inner) !== true;
    if (isText) this.#began = true;
    else if (block.kind === "call") this.written.push({ mark: block.open, text: inner });
    else this.thought = true;
    if (this.#assumed && block !== STRIPPED && !inner.trimStart().startsWith(block.open)) this.endWithoutBegin = true;
    this.#pending = this.#pending.slice(at + block.close.length);
    this.#kept = [];
    this.#inside = null;
    this.#assumed = false;
    return isText ? `${block.open}${inner}${block.close}` : "";
  }

  #nextBlock(): { before: string; block: Block | "mark" | null } {
    const text = this.#pending;
    const isBeginning = !this.#began && !this.#isRead;
    if (isBeginning && text.trimStart().startsWith(STRIPPED.open))
      return this.#enter(text.trimStart().slice(STRIPPED.open.length), STRIPPED);
    if (isBeginning && STRIPPED.open.startsWith(text.trimStart()) && text.trim() !== "") return { before: "", block: null };
    const bare = this.#isCall !== undefined && isBeginning ? mayBeCalls(text) : "no";
    if (bare === "yes") return this.#enter(text, BARE);
    if (bare === "perhaps") return { before: "", block: null };
    MARK.lastIndex = 0;
    for (let found = MARK.exec(text); found !== null; found = MARK.exec(text)) {
      const [mark] = found;
      // One in backticks is talked about, not meant.
      if (text[found.index - 1] === "`" || (mark === FENCE.open && this.#isCall === undefined)) continue;
      const block = [...BLOCKS, FENCE].find(({ open }) => open === mark) ?? null;
      const isEnd = ENDS.includes(mark);
      // The first mark of all: what came before it was thought. After another it is one end too many.
      const endsThought = isEnd && !this.thought && this.written.length === 0;
      if (endsThought) {
        this.endWithoutBegin = true;
        this.thought = true;
        this.#began = false;
      }
      const before = endsThought ? "" : text.slice(0, found.index);
      // "<|start|>assistant" may yet become another mark.
      if (mayBecomeLonger(text.slice(found.index))) {
        this.#pending = text.slice(found.index);
        return { before, block: null };
      }
      this.#pending = text.slice(found.index + mark.length);
      return { before, block: block ?? "mark" };
    }
    const sure = text.length - mayBecomeMark(text, this.#isCall !== undefined);
    this.#pending = text.slice(sure);
    return { before: text.slice(0, sure), block: null };
  }

  #enter(rest: string, block: Block): { before: string; block: Block } {
    this.#pending = rest;
    return { before: "", block };
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
  /** Whether a text without any mark, or in a fence, is calls: what may be some is held back until it ends. Default: none is. */
  readonly isCall?: (text: string) => boolean;
}

/** What an endpoint told of its tokens. `cached` is left out where it told nothing. */
export function usageFrom(told: { readonly input: number; readonly output: number; readonly cached: number | null | undefined }): Usage {
  const { input, output, cached } = told;
  return { input_tokens: input, ...(typeof cached === "number" && { cached_tokens: cached }), output_tokens: output };
}
