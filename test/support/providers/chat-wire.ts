import { idOf, textsOf, usageOf, type Wire, type WireAnswer, type WireTurn } from "./wire.js";

interface Call {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}
interface Message {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string | readonly { readonly text?: string }[] | null;
  readonly tool_calls?: readonly Call[];
  readonly tool_call_id?: string;
  readonly reasoning_content?: string;
}
interface Body {
  readonly messages: readonly Message[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly tool_choice?: unknown;
  readonly stream?: boolean;
}

/** Chat Completions, as OpenAI has it; thought as DeepSeek tells it. */
export const chatWire: Wire = {
  name: "Chat Completions",
  maxIdChars: 40,
  read(given) {
    const body = given as Body;
    const system = body.messages.filter(({ role }) => role === "system");
    if (system.length > 1 || (system.length === 1 && body.messages[0]?.role !== "system"))
      throw new Error("System message must be at the beginning.");
    return {
      system: system.map(textOf).join(""),
      turns: body.messages.filter(({ role }) => role !== "system").map(turnOf),
      tools: (body.tools ?? []).map((tool) => tool.function.name),
      noCalls: body.tool_choice === "none",
      streaming: body.stream === true,
    };
  },
  stream(answer) {
    const chunk = (delta: object, finish: string | null = null) => ({
      id: "c",
      object: "chat.completion.chunk",
      created: 0,
      model: "m",
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
    const pieces: object[] = [chunk({ role: "assistant", content: "" })];
    if (answer.thought !== undefined) pieces.push(chunk({ reasoning_content: answer.thought }));
    for (const content of textsOf(answer)) pieces.push(chunk({ content }));
    for (const [index, call] of (answer.calls ?? []).entries()) {
      const text = JSON.stringify(call.arguments);
      const half = Math.ceil(text.length / 2);
      pieces.push(
        chunk({ tool_calls: [{ index, id: idOf(call, index), type: "function", function: { name: call.name, arguments: "" } }] }),
      );
      pieces.push(chunk({ tool_calls: [{ index, function: { arguments: text.slice(0, half) } }] }));
      pieces.push(chunk({ tool_calls: [{ index, function: { arguments: text.slice(half) } }] }));
    }
    pieces.push(chunk({}, finishOf(answer)), { ...chunk({}), choices: [], usage: chatUsage(answer) });
    return [...pieces.map((piece) => `data: ${JSON.stringify(piece)}`), "data: [DONE]"];
  },
  whole(answer) {
    const calls = (answer.calls ?? []).map((call, index) => ({
      id: idOf(call, index),
      type: "function",
      function: { name: call.name, arguments: JSON.stringify(call.arguments) },
    }));
    const message = {
      role: "assistant",
      content: textsOf(answer).join(""),
      ...(answer.thought !== undefined && { reasoning_content: answer.thought }),
      ...(calls.length > 0 && { tool_calls: calls }),
    };
    return {
      id: "c",
      object: "chat.completion",
      created: 0,
      model: "m",
      choices: [{ index: 0, message, finish_reason: finishOf(answer) }],
      usage: chatUsage(answer),
    };
  },
  error: (status, words) => ({ error: { message: words, type: "invalid_request_error", code: status } }),
};

function turnOf(message: Message): WireTurn {
  return {
    role: message.role as WireTurn["role"],
    text: textOf(message),
    calls: (message.tool_calls ?? []).map((call) => ({
      id: call.id,
      name: call.function.name,
      arguments: JSON.parse(call.function.arguments),
    })),
    results: message.tool_call_id === undefined ? [] : [message.tool_call_id],
    signed: message.reasoning_content !== undefined,
  };
}

function textOf({ content }: Message): string {
  return typeof content === "string" ? content : (content ?? []).map(({ text }) => text ?? "").join("");
}

function finishOf(answer: WireAnswer): string {
  return answer.finish ?? ((answer.calls?.length ?? 0) > 0 ? "tool_calls" : "stop");
}

function chatUsage(answer: WireAnswer) {
  const { input, cached, output } = usageOf(answer);
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
  };
}
