import { idOf, SIGNATURE, textsOf, usageOf, type Wire, type WireAnswer, type WireTurn } from "./wire.js";

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly tool_use_id?: string;
  readonly signature?: string;
}
interface Body {
  readonly system?: string | readonly Block[];
  readonly messages: readonly { readonly role: "user" | "assistant"; readonly content: string | readonly Block[] }[];
  readonly tools?: readonly { readonly name: string }[];
  readonly tool_choice?: { readonly type: string };
  readonly stream?: boolean;
}

/** Anthropic's Messages, with thinking that is signed. */
export const anthropicWire: Wire = {
  name: "Anthropic Messages",
  maxIdChars: 64,
  read(given) {
    const body = given as Body;
    return {
      system: typeof body.system === "string" ? body.system : (body.system ?? []).map(({ text }) => text ?? "").join("\n"),
      turns: body.messages.flatMap(({ role, content }) =>
        turnsOf(role, typeof content === "string" ? [{ type: "text", text: content }] : content),
      ),
      tools: (body.tools ?? []).map(({ name }) => name),
      noCalls: body.tool_choice?.type === "none",
      streaming: body.stream === true,
    };
  },
  stream(answer) {
    const { input, cached, output } = usageOf(answer);
    const usage = { input_tokens: input - cached, cache_read_input_tokens: cached, cache_creation_input_tokens: 0, output_tokens: 0 };
    const events: object[] = [
      {
        type: "message_start",
        message: { id: "m", type: "message", role: "assistant", model: "claude", content: [], stop_reason: null, usage },
      },
    ];
    let index = 0;
    const block = (start: object, deltas: readonly object[]) => {
      events.push({ type: "content_block_start", index, content_block: start });
      for (const delta of deltas) events.push({ type: "content_block_delta", index, delta });
      events.push({ type: "content_block_stop", index });
      index += 1;
    };
    if (answer.thought !== undefined)
      block({ type: "thinking", thinking: "", signature: "" }, [
        { type: "thinking_delta", thinking: answer.thought },
        { type: "signature_delta", signature: SIGNATURE },
      ]);
    if (textsOf(answer).length > 0)
      block(
        { type: "text", text: "" },
        textsOf(answer).map((text) => ({ type: "text_delta", text })),
      );
    for (const [at, call] of (answer.calls ?? []).entries())
      block({ type: "tool_use", id: idOf(call, at), name: call.name, input: {} }, [
        { type: "input_json_delta", partial_json: JSON.stringify(call.arguments) },
      ]);
    events.push(
      { type: "message_delta", delta: { stop_reason: stopOf(answer), stop_sequence: null }, usage: { output_tokens: output } },
      { type: "message_stop" },
    );
    return events.map((event) => `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}`);
  },
  whole(answer) {
    const { input, cached, output } = usageOf(answer);
    const content = [
      ...(answer.thought === undefined ? [] : [{ type: "thinking", thinking: answer.thought, signature: SIGNATURE }]),
      ...textsOf(answer).map((text) => ({ type: "text", text })),
      ...(answer.calls ?? []).map((call, at) => ({ type: "tool_use", id: idOf(call, at), name: call.name, input: call.arguments })),
    ];
    const usage = { input_tokens: input - cached, cache_read_input_tokens: cached, output_tokens: output };
    return { id: "m", type: "message", role: "assistant", model: "claude", content, stop_reason: stopOf(answer), usage };
  },
  error: (status, words) => ({
    type: "error",
    error: { type: status === 429 ? "rate_limit_error" : "invalid_request_error", message: words },
  }),
};

function turnsOf(role: "user" | "assistant", blocks: readonly Block[]): WireTurn[] {
  const text = blocks.map((block) => (block.type === "text" ? (block.text ?? "") : "")).join("");
  const results = blocks.flatMap(({ type, tool_use_id }) => (type === "tool_result" ? [tool_use_id ?? ""] : []));
  const calls = blocks.flatMap(({ type, id, name, input }) =>
    type === "tool_use" ? [{ id: id ?? "", name: name ?? "", arguments: input }] : [],
  );
  const signed = blocks.some(({ type, signature }) => type === "thinking" && signature === SIGNATURE);
  const result: WireTurn[] = results.length === 0 ? [] : [{ role: "tool", text: "", calls: [], results, signed: false }];
  return results.length > 0 && text === "" ? result : [...result, { role, text, calls, results: [], signed }];
}

function stopOf(answer: WireAnswer): string {
  if (answer.finish === "length") return "max_tokens";
  if (answer.finish === "content_filter") return "refusal";
  return (answer.calls?.length ?? 0) > 0 ? "tool_use" : "end_turn";
}
