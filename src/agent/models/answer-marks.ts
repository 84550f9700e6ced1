/** A stretch of what a model writes that is no answer. */
export interface Block {
  readonly open: string;
  /** Null: reaches to the end. */
  readonly close: string | null;
  readonly kind: "thought" | "call";
}

export const BLOCKS: readonly Block[] = [
  { open: "<think>", close: "</think>", kind: "thought" },
  { open: "<thinking>", close: "</thinking>", kind: "thought" },
  { open: "<thought>", close: "</thought>", kind: "thought" },
  { open: "[THINK]", close: "[/THINK]", kind: "thought" },
  { open: "<tool_call>", close: "</tool_call>", kind: "call" },
  { open: "<function=", close: "</function>", kind: "call" },
  { open: "[TOOL_CALLS]", close: null, kind: "call" },
  { open: "<|python_tag|>", close: null, kind: "call" },
  // DeepSeek.
  { open: "<｜tool▁calls▁begin｜>", close: "<｜tool▁calls▁end｜>", kind: "call" },
  // The channels of gpt-oss.
  { open: "<|channel|>analysis<|message|>", close: "<|end|>", kind: "thought" },
  { open: "<|channel|>commentary<|message|>", close: "<|end|>", kind: "thought" },
  { open: "<|channel|>commentary to=", close: "<|call|>", kind: "call" },
  { open: "<|start|>assistant to=", close: "<|call|>", kind: "call" },
];
/** A whole text that may be one call. */
export const BARE: Block = { open: "", close: null, kind: "call" };
/** What may hold calls, or be code that is part of the answer. */
export const FENCE: Block = { open: "```", close: "```", kind: "call" };
/** The channels of gpt-oss, of which a server has left out the marks: `analysis…assistantfinal…`. */
export const STRIPPED: Block = { open: "analysis", close: "assistantfinal", kind: "thought" };

/** Ends of thought that may have no begin. */
export const ENDS: readonly string[] = ["</think>", "</thinking>"];
/** Marks of a template around an answer. */
const AROUND = ["<|start|>assistant", "<|channel|>final<|message|>"];
/** Any other token of a template: `<|im_end|>`, `<｜end▁of▁sentence｜>`. */
const TOKEN = "<[|｜][\\w▁/-]{1,40}[|｜]>";
const MARKS = [...BLOCKS.map(({ open }) => open), FENCE.open, ...ENDS, ...AROUND].toSorted((a, b) => b.length - a.length);
export const MARK = new RegExp([...MARKS.map((mark) => mark.replace(/[[\]|]/g, "\\$&")), TOKEN].join("|"), "gu");
const LONGEST = Math.max(...MARKS.map(({ length }) => length)) - 1;
/** What may become a token once more of it has come. */
const BEGUN_TOKEN = /<(?:[|｜][\w▁/-]{0,40}[|｜]?)?$/u;

/** How many of the last characters may be the begin of a mark. A backtick is kept with what follows it. */
export function mayBecomeMark(text: string, fences: boolean): number {
  const token = BEGUN_TOKEN.exec(text.slice(-60))?.[0].length ?? 0;
  const marks = fences ? MARKS : MARKS.filter((mark) => mark !== FENCE.open);
  for (let length = Math.min(LONGEST, text.length); length > token; length -= 1) {
    const tail = text.slice(-length);
    if (marks.some((mark) => mark.startsWith(tail))) return text[text.length - length - 1] === "`" ? length + 1 : length;
  }
  if (token > 0) return text[text.length - token - 1] === "`" ? token + 1 : token;
  return text.endsWith("`") ? 1 : 0;
}

const CALLS = /^\s*(?:\{|\[\s*(?:\{|[A-Za-z_][\w.]{0,99}\())/u;
const BEGUN_CALLS = /^\s{0,40}\[\s{0,40}(?:[A-Za-z_][\w.]{0,99})?$/u;

/** Whether an answer that begins so may be nothing but calls: an object, a list of objects, `[name(…)]`. */
export function mayBeCalls(text: string): "yes" | "perhaps" | "no" {
  if (CALLS.test(text)) return "yes";
  return BEGUN_CALLS.test(text) ? "perhaps" : "no";
}

/** Whether a text that begins with a mark is the begin of a longer one, as far as it goes. */
export function mayBecomeLonger(text: string): boolean {
  return MARKS.some((mark) => mark.length > text.length && mark.startsWith(text));
}

const TOKENS = new RegExp(`${TOKEN}|<[|｜][\\w▁/-]{0,40}[|｜]?$`, "gu");

/** What is left of an answer's end once tokens of the template are taken out, those as well that never came to their end. */
export function withoutTokens(text: string): string {
  return text.replaceAll(TOKENS, "");
}
