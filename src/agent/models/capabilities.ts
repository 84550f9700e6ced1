import { z } from "zod";

const flag = z.boolean();
const amount = z.number().positive().nullable().default(null);

/** What one model at one endpoint takes. Starts with everything; each refusal that names something takes that away, for good. */
export const capabilitiesSchema = z.object({
  /** False: tools are left out, the history's calls are told in words, and the model is told that it can't act. */
  tools: flag.default(true),
  /** Whether `tool_choice: "none"` is taken while tools are named. */
  noToolChoice: flag.default(true),
  /** False: the answer is asked for whole. */
  streaming: flag.default(true),
  /** Whether usage may be asked for in a stream (`stream_options`). */
  streamUsage: flag.default(true),
  /** How JSON is asked for: by its schema, as an object, or in words alone. */
  json: z.enum(["schema", "object", "words"]).default("schema"),
  /**
   * How it answered when JSON was asked for in this way: not asked yet, in prose the last time, or with JSON once. After prose it is asked
   * in words, and stays asked so when that gives JSON. One that has given JSON is not taken for one that can't because of a slip.
   */
  jsonAnswers: z.enum(["unseen", "prose", "given"]).default("unseen"),
  tokenField: z.enum(["max_completion_tokens", "max_tokens", "none"]).default("max_completion_tokens"),
  /** REASONING_EFFORT: as it is set, `none` beside tools, or not sent. */
  effort: z.enum(["as_set", "none_with_tools", "unsent"]).default("as_set"),
  /** Where the system text goes. `user`: before the first user message. */
  system: z.enum(["system", "user"]).default("system"),
  /** Ids of calls: as the endpoint gave them, up to 40 characters all the same, or Mistral's nine letters and digits. */
  ids: z.enum(["own", "short", "nine"]).default("own"),
  /** Whether signed reasoning may be asked for (Responses API). */
  signedReasoning: flag.default(true),
  /** Whether a key for its cache may be sent (`prompt_cache_key`). */
  cacheKey: flag.default(true),
  /** The model thinks before it answers: what it thinks is paid for out of the same limit. */
  thinks: flag.default(false),
  /** Its text begins with thought that has an end mark but none at its start (`…</think>`). Null: not known yet. */
  thinksFirst: flag.nullable().default(null),
  /** False: it refused images as such. */
  images: flag.default(true),
  /** As a refusal or a list of models told it, in tokens. */
  contextTokens: amount,
  /** Bytes of what it is sent that make a token, as its last answer told. */
  bytesPerToken: amount,
  /** Tokens a second, as its last answers went. */
  inputPerSecond: amount,
  outputPerSecond: amount,
  /** Whether it has read a guest's message; false: none of several. Null: not known yet. */
  reads: flag.nullable().default(null),
});

export type Capabilities = Readonly<z.output<typeof capabilitiesSchema>>;

export const EVERYTHING: Capabilities = capabilitiesSchema.parse({});

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
