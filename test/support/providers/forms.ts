// Over 300 lines: one table.
import type { WireAnswer } from "./wire.js";

/** A Chat Completions request as a form looks at it. */
export interface FormBody {
  readonly messages: readonly {
    readonly role: string;
    readonly content: unknown;
    readonly reasoning_content?: string;
    readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly arguments: string } }[];
    readonly tool_call_id?: string;
  }[];
  readonly tools?: readonly { readonly function: { readonly parameters: unknown } }[];
  readonly response_format?: { readonly type: string };
  readonly stream?: boolean;
  readonly stream_options?: unknown;
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly temperature?: number;
  readonly reasoning_effort?: string;
}

export interface FormPart {
  index?: number | null | undefined;
  id?: string;
  type?: string;
  function: { name?: string | undefined; arguments?: unknown };
}

/** What one provider does differently from OpenAI: what it refuses, and how its answers look. */
export interface Form {
  readonly name: string;
  /** Status and body of a refusal, or null. `seen`: how many requests came before. */
  readonly refuses?: (body: FormBody, seen: number) => readonly [number, unknown] | null;
  /** Calls as they are told: one chunk each. Default: as OpenAI, in fragments. */
  readonly parts?: (calls: NonNullable<WireAnswer["calls"]>) => readonly FormPart[];
  /** The text in place of the calls. */
  readonly callsAsText?: (calls: NonNullable<WireAnswer["calls"]>) => string;
  readonly text?: (text: string) => readonly string[];
  readonly thought?: string;
  /** Whole events to begin with: comments, chunks. */
  readonly prelude?: readonly string[];
  /** Default: `stop` or `tool_calls`. Null: none is told. */
  readonly finish?: string | null;
  /** Default: in a chunk of its own. */
  readonly usage?: "own chunk" | "with the finish" | "null" | "none";
  /** Default: true. */
  readonly done?: boolean;
  /** What a stream says that it is. Default: `text/event-stream`. */
  readonly contentType?: string;
  /** JSON comes although a stream was asked for. */
  readonly neverStreams?: boolean;
  readonly ignoresFormat?: boolean;
  readonly takesNoTools?: boolean;
  /** What the log has of its refusals over a turn and the reading of it. Default: nothing. */
  readonly log?: RegExp;
}

const openai = (message: string, param: string | null = null, code: string | null = null) => ({
  error: { message, type: "invalid_request_error", param, code },
});
const bare = (message: string) => ({ object: "error", message, type: "BadRequestError", param: null, code: 400 });
const detail = (field: string) => ({
  detail: [{ type: "extra_forbidden", loc: ["body", field], msg: "Extra inputs are not permitted", input: 1 }],
});
const idsOf = ({ messages }: FormBody) =>
  messages.flatMap(({ tool_calls = [], tool_call_id }) => [...tool_calls.map(({ id }) => id), ...(tool_call_id ? [tool_call_id] : [])]);
const hasCalls = ({ messages }: FormBody) => messages.some(({ tool_calls }) => (tool_calls?.length ?? 0) > 0);
const whole = (calls: NonNullable<WireAnswer["calls"]>): FormPart[] =>
  calls.map((call, index) => ({
    index,
    id: `call_${index}`,
    type: "function",
    function: { name: call.name, arguments: JSON.stringify(call.arguments) },
  }));
const without = (key: "index" | "id") => (calls: NonNullable<WireAnswer["calls"]>) =>
  whole(calls).map((part) => {
    delete part[key];
    return part;
  });
const empty = { id: "c", object: "chat.completion.chunk", created: 0, model: "m" };

/** Every form of what providers refuse and send that is known; docs/models.md tells them in a table. */
export const FORMS: readonly Form[] = [
  { name: "OpenAI" },
  {
    name: "OpenAI, a reasoning model: no max_tokens, no temperature",
    refuses: ({ max_tokens, temperature }) =>
      max_tokens !== undefined || temperature !== undefined
        ? [
            400,
            openai(
              "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
              "max_tokens",
              "unsupported_parameter",
            ),
          ]
        : null,
  },
  {
    name: "OpenAI, a newer one: tools beside reasoning at the Responses API only",
    log: /left out.*"learnt":\{"effort":"none_with_tools"/,
    refuses: ({ tools, reasoning_effort }) =>
      tools !== undefined && reasoning_effort !== "none"
        ? [
            400,
            openai(
              "Function tools with reasoning_effort are not supported for this model in /v1/chat/completions. Please use /v1/responses instead.",
              "reasoning_effort",
            ),
          ]
        : null,
  },
  {
    name: "OpenAI, an organisation that is not verified",
    log: /left out.*"learnt":\{"streaming":false\}/,
    refuses: ({ stream }) =>
      stream === true ? [400, openai("Your organization must be verified to stream this model.", "stream", "unsupported_value")] : null,
  },
  {
    name: "OpenAI: ids of at most 40 characters",
    parts: (calls) => whole(calls).map((part, index) => ({ ...part, id: `call_${String(index).repeat(60)}` })),
    refuses: (body) =>
      idsOf(body).some((id) => id.length > 40)
        ? [
            400,
            openai(
              "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 65 instead.",
              "messages[1].tool_calls[0].id",
              "string_above_max_length",
            ),
          ]
        : null,
  },
  {
    name: "Mistral: ids of nine letters and digits, no unknown fields",
    log: /"streamUsage":false.*"tokenField":"max_tokens"/s,
    refuses: (body) => {
      if (body.max_completion_tokens !== undefined) return [422, detail("max_completion_tokens")];
      if (body.stream_options !== undefined) return [422, detail("stream_options")];
      const id = idsOf(body).find((each) => !/^[A-Za-z0-9]{9}$/.test(each));
      return id === undefined ? null : [400, bare(`Tool call id was ${id} but must be a-z, A-Z, 0-9, with a length of 9.`)];
    },
  },
  {
    name: "Qwen and llama.cpp: a system message first or none",
    refuses: ({ messages }) =>
      messages.slice(1).some(({ role }) => role === "system") ? [400, bare("System message must be at the beginning.")] : null,
  },
  {
    name: "Gemma: no system message, roles in turns, no tools",
    log: /"tools":false.*"system":"user"/s,
    takesNoTools: true,
    refuses: ({ messages, tools }) => {
      if (tools !== undefined) return [400, openai("registry.ollama.ai/library/gemma3:4b does not support tools", null, null)];
      if (messages.some(({ role }) => role === "system")) return [400, bare("System role not supported")];
      const turns = messages.every(({ role }, at) => role === (at % 2 === 0 ? "user" : "assistant"));
      return turns ? null : [400, bare("Conversation roles must alternate user/assistant/user/assistant/...")];
    },
  },
  {
    name: "vLLM without a tool parser",
    log: /left out.*"learnt":\{"tools":false\}/,
    takesNoTools: true,
    refuses: ({ tools }) =>
      tools === undefined ? null : [400, bare('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set')],
  },
  {
    name: "llama.cpp without --jinja",
    log: /left out.*"learnt":\{"tools":false\}/,
    takesNoTools: true,
    refuses: ({ tools }) =>
      tools === undefined ? null : [500, { error: { code: 500, message: "tools param requires --jinja flag", type: "server_error" } }],
  },
  {
    name: "OpenRouter, a model without tools",
    log: /left out.*"learnt":\{"tools":false\}/,
    takesNoTools: true,
    refuses: ({ tools }) =>
      tools === undefined
        ? null
        : [404, { error: { message: 'No endpoints found that support tool use. Try disabling "search".', code: 404 } }],
  },
  {
    name: "DeepSeek, thinking: reasoning_content comes back with calls",
    log: /left out.*"learnt":\{"json":"object"/,
    thought: "She wants opera.",
    refuses: ({ messages, response_format }) => {
      if (response_format?.type === "json_schema") return [400, openai("This response_format type is unavailable now")];
      const missing = messages.some(
        ({ tool_calls, reasoning_content }) => (tool_calls?.length ?? 0) > 0 && reasoning_content !== "She wants opera.",
      );
      return missing ? [400, openai("Missing `reasoning_content` field in the assistant message at message index 2.")] : null;
    },
  },
  {
    name: "Anthropic-compatible: tools with calls, no JSON mode",
    ignoresFormat: true,
    refuses: (body) =>
      hasCalls(body) && body.tools === undefined
        ? [400, openai("Requests which include `tool_use` or `tool_result` blocks must define tools")]
        : null,
  },
  {
    name: "Ollama: arguments are an object, every call has index 0",
    usage: "none",
    parts: (calls) => whole(calls).map((part) => ({ ...part, index: 0 })),
    refuses: ({ messages }) => {
      const objects = messages.flatMap(({ tool_calls = [] }) => tool_calls).every((call) => call.function.arguments.startsWith("{"));
      return objects
        ? null
        : [400, openai("json: cannot unmarshal string into Go struct field .arguments of type map[string]interface {}")];
    },
  },
  {
    name: "vLLM: errors without an error key, no stream_options",
    log: /left out.*"learnt":\{"streamUsage":false\}/,
    refuses: ({ stream_options }) =>
      stream_options === undefined
        ? null
        : [400, bare("[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not permitted'}]")],
  },
  {
    name: "a FastAPI server: 422 with details",
    log: /"streamUsage":false.*"tokenField":"max_tokens"/s,
    refuses: ({ max_completion_tokens, stream_options }) =>
      stream_options !== undefined
        ? [422, detail("stream_options")]
        : max_completion_tokens !== undefined
          ? [422, detail("max_completion_tokens")]
          : null,
  },
  {
    name: "a server that knows no limit of tokens",
    log: /"tokenField":"max_tokens".*"tokenField":"none"/s,
    refuses: ({ max_completion_tokens, max_tokens }) =>
      max_completion_tokens !== undefined
        ? [400, "unknown field: max_completion_tokens"]
        : max_tokens !== undefined
          ? [400, "unknown field: max_tokens"]
          : null,
  },
  {
    name: "Groq: no json_schema, and one call that failed",
    log: /failed to call a function.*"json":"object"/is,
    refuses: ({ response_format, tools }, seen) => {
      if (response_format?.type === "json_schema") return [400, openai("This model does not support response format `json_schema`.")];
      return tools !== undefined && seen === 0
        ? [
            400,
            {
              error: {
                message: "Failed to call a function. Please adjust your prompt.",
                type: "invalid_request_error",
                code: "tool_use_failed",
                failed_generation: "<function=search>{",
              },
            },
          ]
        : null;
    },
  },
  {
    name: "a server without any JSON mode",
    log: /"json":"object".*"json":"words"/s,
    refuses: ({ response_format }) =>
      response_format === undefined ? null : [400, openai("response_format is not supported", "response_format")],
  },
  {
    name: "Gemini-compatible: plain schemas",
    refuses: ({ tools }) => {
      const refused = /"(format|pattern|minLength|maxLength)":/.exec(JSON.stringify(tools ?? []))?.[1];
      return refused === undefined
        ? null
        : [
            400,
            [
              {
                error: {
                  code: 400,
                  message: `Invalid JSON payload received. Unknown name "${refused}" at 'tools[0]'`,
                  status: "INVALID_ARGUMENT",
                },
              },
            ],
          ];
    },
  },
  {
    name: "Azure: a first chunk without choices",
    prelude: [
      `data: ${JSON.stringify({ ...empty, choices: [], prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }] })}`,
    ],
  },
  { name: "calls without index", parts: without("index") },
  { name: "calls with index null", parts: (calls) => whole(calls).map((part) => ({ ...part, index: null })) },
  { name: "calls without ids", parts: without("id") },
  { name: "calls with one id for all", parts: (calls) => whole(calls).map((part) => ({ ...part, id: "call" })) },
  {
    name: "arguments as an object",
    parts: (calls) => whole(calls).map((part, at) => ({ ...part, function: { ...part.function, arguments: calls[at]?.arguments } })),
  },
  { name: "calls in one chunk each, no reason for the end", parts: whole, finish: null },
  { name: "calls and `stop`", finish: "stop" },
  { name: "no reason for the end, no [DONE]", finish: null, done: false },
  {
    name: "calls as text: Hermes",
    callsAsText: (calls) => calls.map((call) => `<tool_call>\n${JSON.stringify(call)}\n</tool_call>`).join("\n"),
  },
  {
    name: "calls as text: Qwen coder",
    callsAsText: (calls) =>
      calls
        .map(
          (call) =>
            `<tool_call>\n<function=${call.name}>\n${Object.entries(call.arguments)
              .map(([key, value]) => `<parameter=${key}>\n${value}\n</parameter>`)
              .join("\n")}\n</function>\n</tool_call>`,
        )
        .join("\n"),
  },
  { name: "calls as text: Mistral", callsAsText: (calls) => `[TOOL_CALLS]${JSON.stringify(calls)}` },
  {
    name: "calls as text: Llama",
    callsAsText: (calls) => calls.map((call) => JSON.stringify({ name: call.name, parameters: call.arguments })).join("\n"),
  },
  {
    name: "calls as text: DeepSeek",
    callsAsText: (calls) =>
      `<｜tool▁calls▁begin｜>${calls
        .map(
          (call) =>
            `<｜tool▁call▁begin｜>function<｜tool▁sep｜>${call.name}\n\`\`\`json\n${JSON.stringify(call.arguments)}\n\`\`\`<｜tool▁call▁end｜>`,
        )
        .join("\n")}<｜tool▁calls▁end｜><｜end▁of▁sentence｜>`,
  },
  {
    name: "calls as text: DeepSeek 3.1",
    callsAsText: (calls) =>
      `<｜tool▁calls▁begin｜>${calls
        .map((call) => `<｜tool▁call▁begin｜>${call.name}<｜tool▁sep｜>${JSON.stringify(call.arguments)}<｜tool▁call▁end｜>`)
        .join("")}<｜tool▁calls▁end｜>`,
  },
  {
    name: "calls as text: in a fenced block, after a word",
    callsAsText: (calls) => `Let me look.\n\`\`\`json\n${JSON.stringify(calls)}\n\`\`\``,
  },
  {
    name: "calls as text: Python",
    callsAsText: (calls) =>
      `[${calls.map((call) => `${call.name}(${Object.entries(call.arguments).map(([key, value]) => `${key}="${value}"`)})`).join(", ")}]`,
  },
  {
    name: "calls as text: gpt-oss's commentary",
    callsAsText: (calls) =>
      `<|channel|>analysis<|message|>She wants opera.<|end|>${calls
        .map(
          (call) =>
            `<|start|>assistant<|channel|>commentary to=functions.${call.name} <|constrain|>json<|message|>${JSON.stringify(call.arguments)}<|call|>`,
        )
        .join("")}`,
  },
  {
    name: "gpt-oss: channels in the text",
    text: (text) => [
      "<|chan",
      "nel|>analysis<|mess",
      "age|>She wants opera.<|end|><|start|>assis",
      "tant<|channel|>final<|message|>",
      text,
      "<|return|>",
    ],
  },
  { name: "gpt-oss: channels whose marks were left out", text: (text) => ["anal", "ysisShe wants opera.assist", `antfinal${text}`] },
  {
    name: "gpt-oss: channels whose marks were left out in part",
    text: (text) => [`<|channel|>analysisShe wants opera.assistantfinal${text}`],
  },
  { name: "tokens of a template at the end", text: (text) => [text, "<|im_", "end|>"] },
  {
    name: "names with their namespace",
    parts: (calls) => whole(calls).map((part) => ({ ...part, function: { ...part.function, name: `functions.${part.function.name}` } })),
  },
  {
    name: "names with their channel",
    parts: (calls) =>
      whole(calls).map((part) => ({ ...part, function: { ...part.function, name: `${part.function.name}<|channel|>commentary` } })),
  },
  {
    name: "arguments encoded twice",
    parts: (calls) =>
      whole(calls).map((part) => ({ ...part, function: { ...part.function, arguments: JSON.stringify(part.function.arguments) } })),
  },
  {
    name: "arguments null at first",
    parts: (calls) =>
      whole(calls).flatMap((part) => [
        { ...part, function: { name: part.function.name, arguments: null } },
        { index: part.index, function: { arguments: part.function.arguments } },
      ]),
  },
  { name: "a stream that is said to be JSON", contentType: "application/json" },
  { name: "thought in the text", text: (text) => ["<th", "ink>\nShe wants ope", "ra.\n</thin", "k>\n\n", text] },
  { name: "usage null", usage: "null" },
  { name: "usage with the finish", usage: "with the finish" },
  { name: "no usage", usage: "none" },
  { name: "OpenRouter: comments as keep-alive", prelude: [": OPENROUTER PROCESSING", ": OPENROUTER PROCESSING"] },
  { name: "no [DONE]", done: false },
  { name: "JSON where a stream was asked for", neverStreams: true },
];
