/** What one model at one endpoint takes. Starts with everything; each refusal that names something takes that away, for good. */
export interface Capabilities {
  /** False: tools are left out, the history's calls are told in words, and the model is told that it can't act. */
  readonly tools: boolean;
  /** Whether `tool_choice: "none"` is taken while tools are named. */
  readonly noToolChoice: boolean;
  /** False: the answer is asked for whole. */
  readonly streaming: boolean;
  /** Whether usage may be asked for in a stream (`stream_options`). */
  readonly streamUsage: boolean;
  /** How JSON is asked for: by its schema, as an object, or in words alone. */
  readonly json: "schema" | "object" | "words";
  /**
   * How it answered when JSON was asked for in this way: not asked yet, in prose the last time, or with JSON once. After prose it is asked
   * in words, and stays asked so when that gives JSON. One that has given JSON is not taken for one that can't because of a slip.
   */
  readonly jsonAnswers: "unseen" | "prose" | "given";
  readonly tokenField: "max_completion_tokens" | "max_tokens" | "none";
  /** REASONING_EFFORT: as it is set, `none` beside tools, or not sent. */
  readonly effort: "as_set" | "none_with_tools" | "unsent";
  /** Where the system text goes. `user`: before the first user message. */
  readonly system: "system" | "user";
  /** Ids of calls: as the endpoint gave them, up to 40 characters all the same, or Mistral's nine letters and digits. */
  readonly ids: "own" | "short" | "nine";
  /** Whether signed reasoning may be asked for (Responses API). */
  readonly signedReasoning: boolean;
  /** Whether a key for its cache may be sent (`prompt_cache_key`). */
  readonly cacheKey: boolean;
  /** The model thinks before it answers: what it thinks is paid for out of the same limit. */
  readonly thinks: boolean;
  /** Its text begins with thought that has an end mark but none at its start (`…</think>`). Null: not known yet. */
  readonly thinksFirst: boolean | null;
  /** False: it refused images as such. */
  readonly images: boolean;
  /** As a refusal or a list of models told it, in tokens. */
  readonly contextTokens: number | null;
  /** Bytes of what it is sent that make a token, as its last answer told. */
  readonly bytesPerToken: number | null;
  /** Tokens a second, as its last answers went. */
  readonly inputPerSecond: number | null;
  readonly outputPerSecond: number | null;
  /** Whether it has read a guest's message; false: none of several. Null: not known yet. */
  readonly reads: boolean | null;
}

export const EVERYTHING: Capabilities = {
  tools: true,
  noToolChoice: true,
  streaming: true,
  streamUsage: true,
  json: "schema",
  jsonAnswers: "unseen",
  tokenField: "max_completion_tokens",
  effort: "as_set",
  system: "system",
  ids: "own",
  signedReasoning: true,
  cacheKey: true,
  thinks: false,
  thinksFirst: null,
  images: true,
  contextTokens: null,
  bytesPerToken: null,
  inputPerSecond: null,
  outputPerSecond: null,
  reads: null,
};

/** What differs from {@link EVERYTHING}, in plain words. */
export function capabilityFacts(known: Capabilities): string[] {
  const facts: readonly (readonly [boolean, string])[] = [
    [!known.tools, "takes no tools: it converses, but can't search, book or save anything"],
    [!known.noToolChoice, 'does not know `tool_choice: "none"`: it is told in words when to stop calling tools'],
    [!known.streaming, "does not stream: answers come whole"],
    [!known.streamUsage, "tells no usage in a stream: tokens are counted as 0"],
    [known.json === "object", "takes no JSON schema: it is asked for a JSON object, and the schema is named in words"],
    [known.json === "words", "has no JSON mode: it is asked for JSON in words"],
    [known.tokenField === "max_tokens", "wants `max_tokens` instead of `max_completion_tokens`"],
    [known.tokenField === "none", "takes no limit of its answer's tokens"],
    [known.effort === "none_with_tools", 'reasons beside tools at the Responses API only: with tools `reasoning_effort` is "none"'],
    [known.effort === "unsent", "does not take the REASONING_EFFORT that is set"],
    [known.system === "user", "knows no system message: the prompt goes with the first user message"],
    [known.ids === "nine", "wants ids of nine letters and digits"],
    [known.thinks, "thinks before it answers: thought is kept out of answers, and gets tokens of its own"],
    [!known.images, "takes no images"],
    [known.contextTokens !== null, `reads ${known.contextTokens} tokens at once`],
  ];
  return facts.flatMap(([differs, fact]) => (differs ? [fact] : []));
}
