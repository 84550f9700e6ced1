import { createServer, type ServerResponse } from "node:http";
import { onLoopback } from "../support/on-loopback.js";
import type { ChatBody } from "../support/openai-stub.js";
import { taskOf } from "./task-of.js";

export const DIALECTS = ["vLLM", "llama.cpp", "Ollama", "LM Studio"] as const;
export type Dialect = (typeof DIALECTS)[number];

export interface SmallWindowServer {
  readonly url: string;
  readonly answered: ChatBody[];
  /** Requests that were refused for their length. */
  readonly refused: ChatBody[];
  /** Those of which a part was left out in silence. */
  readonly cut: ChatBody[];
}

/** As these servers count: about four bytes of English for a token. */
function promptTokens({ messages, tools = [] }: ChatBody): number {
  const text = messages.map(({ content }) => (typeof content === "string" ? content : JSON.stringify(content ?? ""))).join("");
  const calls = messages.flatMap(({ tool_calls }) => (tool_calls === undefined ? [] : [JSON.stringify(tool_calls)])).join("");
  const told = tools.length === 0 ? "" : JSON.stringify(tools);
  return Math.ceil(Buffer.byteLength(text + calls + told) / 4) + messages.length * 4;
}

/** A model of a small window behind a server that treats what is longer as that server does. */
export async function openSmallWindowServer(
  dialect: Dialect,
  windowTokens: number,
  answer: (body: ChatBody) => { readonly text?: string; readonly call?: { readonly name: string; readonly arguments: object } },
  /** Whether it also tells its window where it is asked for it. Ollama always does. */
  { tells = false }: { readonly tells?: boolean } = {},
): Promise<SmallWindowServer> {
  const [answered, refused, cut]: [ChatBody[], ChatBody[], ChatBody[]] = [[], [], []];
  let loaded = false;
  const json = (response: ServerResponse, status: number, body: unknown) =>
    void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const piece of request) chunks.push(piece as Buffer);
    if (request.method === "GET") {
      const running = loaded ? [{ name: "m:latest", context_length: windowTokens }] : [];
      if (dialect === "Ollama" && request.url === "/api/ps") return json(response, 200, { models: running });
      const places: Readonly<Record<string, unknown>> = {
        "vLLM /v1/models": { data: [{ id: "m", max_model_len: windowTokens }] },
        "llama.cpp /v1/models": { data: [{ id: "m", meta: { n_ctx_train: 131_072 } }] },
        "llama.cpp /props": { default_generation_settings: { n_ctx: windowTokens }, total_slots: 1 },
        "LM Studio /api/v0/models": { data: [{ id: "m", loaded_context_length: windowTokens, max_context_length: 131_072 }] },
      };
      const told = tells ? places[`${dialect} ${request.url}`] : undefined;
      return told === undefined ? json(response, 404, {}) : json(response, 200, told);
    }
    const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as ChatBody;
    const prompt = promptTokens(body);
    const output = body.max_completion_tokens ?? body.max_tokens ?? 0;
    const stream = (pieces: readonly string[]) =>
      void response.writeHead(200, { "content-type": "text/event-stream" }).end(pieces.join("\n\n"));
    const tooLong = dialect === "vLLM" ? prompt + output > windowTokens : prompt > windowTokens;
    if (tooLong && dialect !== "Ollama") {
      refused.push(body);
      if (dialect === "vLLM") {
        const words = `However, you requested ${prompt + output} tokens (${prompt} in the messages, ${output} in the completion).`;
        const message = `This model's maximum context length is ${windowTokens} tokens. ${words} Please reduce the length of the messages or completion.`;
        return json(response, 400, { object: "error", message, type: "BadRequestError", param: null, code: 400 });
      }
      if (dialect === "llama.cpp") {
        const message = `request (${prompt} tokens) exceeds the available context size (${windowTokens} tokens), try increasing it`;
        const told = { code: 400, message, type: "exceed_context_size_error", n_prompt_tokens: prompt, n_ctx: windowTokens };
        return json(response, 400, { error: told });
      }
      const message =
        `Trying to keep the first ${prompt} tokens when context the overflows. However, the model is loaded with context length of only ` +
        `${windowTokens} tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input.`;
      return stream([`event: error\ndata: ${JSON.stringify({ error: { message } })}`, ""]);
    }
    loaded = true;
    answered.push(body);
    if (tooLong) cut.push(body);
    const { text = "", call } = answer(body);
    const chunk = (delta: object, finish: string | null = null) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}`;
    const called = call && {
      tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: call.name, arguments: JSON.stringify(call.arguments) } }],
    };
    const usage = { prompt_tokens: Math.min(prompt, windowTokens), completion_tokens: Math.ceil(text.length / 4) };
    stream([
      chunk(called ?? { content: text }),
      chunk({}, called ? "tool_calls" : "stop"),
      `data: ${JSON.stringify({ choices: [], usage })}`,
      "data: [DONE]",
      "",
    ]);
  });
  return { url: `${await onLoopback(server)}/v1`, answered, refused, cut };
}

/** Searches when it is asked for concerts and can, and reads who loves jazz. */
export function plainConcierge(body: ChatBody) {
  const task = taskOf(body);
  const all = JSON.stringify(body.messages);
  if (task === "title") return { text: "An evening out" };
  if (task === "reading") {
    const jazz = {
      op: "add",
      quote: "I love jazz",
      text: "Loves jazz",
      category: "genre",
      strength: "soft",
      subject: "self",
      stance: "stated",
    };
    return { text: JSON.stringify({ off_record: null, operations: all.includes("I love jazz") ? [jazz] : [] }) };
  }
  const last = body.messages.at(-1);
  const names = (body.tools ?? []).map((tool) => tool.function.name);
  if (last?.role === "user" && String(last.content).includes("concert") && names.includes("search_events"))
    return { call: { name: "search_events", arguments: { kind: "music", limit: 5 } } };
  return { text: `Very well. ${"It will be a fine evening, and there is much to see and hear. ".repeat(3)}` };
}
