import { idOf, SIGNATURE, textsOf, usageOf, type Wire, type WireAnswer, type WireTurn } from "./wire.js";

interface Item {
  readonly type?: string;
  readonly role?: "user" | "assistant";
  readonly content?: string;
  readonly call_id?: string;
  readonly name?: string;
  readonly arguments?: string;
  readonly output?: string;
  readonly encrypted_content?: string;
}
interface Body {
  readonly instructions?: string;
  readonly input: readonly Item[];
  readonly tools?: readonly { readonly name: string }[];
  readonly tool_choice?: unknown;
  readonly stream?: boolean;
  readonly store?: boolean;
}

/** OpenAI's Responses API with a reasoning model: its reasoning is signed, and a call without it is refused. */
export const responsesWire: Wire = {
  name: "Responses",
  maxIdChars: 64,
  read(given) {
    const body = given as Body;
    if (body.store !== false) throw new Error("The conversation would be stored.");
    return {
      system: body.instructions ?? "",
      turns: turnsOf(body.input),
      tools: (body.tools ?? []).map(({ name }) => name),
      noCalls: body.tool_choice === "none",
      streaming: body.stream === true,
    };
  },
  stream(answer) {
    const events: object[] = [{ type: "response.created", response: { id: "r", status: "in_progress", output: [] } }];
    for (const delta of textsOf(answer))
      events.push({ type: "response.output_text.delta", item_id: "msg", output_index: 0, content_index: 0, delta });
    for (const [at, item] of items(answer).entries()) events.push({ type: "response.output_item.done", output_index: at, item });
    const response = whole(answer);
    events.push({ type: response.status === "incomplete" ? "response.incomplete" : "response.completed", response });
    return events.map((event) => `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}`);
  },
  whole,
  error: (status, words) => ({ error: { message: words, type: "invalid_request_error", param: null, code: String(status) } }),
};

function whole(answer: WireAnswer) {
  const { input, cached, output } = usageOf(answer);
  const cut = answer.finish === "length" ? "max_output_tokens" : answer.finish === "content_filter" ? "content_filter" : null;
  return {
    id: "r",
    object: "response",
    status: cut === null ? "completed" : "incomplete",
    incomplete_details: cut === null ? null : { reason: cut },
    output: items(answer),
    usage: { input_tokens: input, input_tokens_details: { cached_tokens: cached }, output_tokens: output },
  };
}

function items(answer: WireAnswer): object[] {
  const text = textsOf(answer).join("");
  return [
    ...(answer.thought === undefined
      ? []
      : [{ type: "reasoning", id: "rs_1", summary: [], encrypted_content: SIGNATURE, status: "completed" }]),
    ...(text === ""
      ? []
      : [
          { type: "message", id: "msg", role: "assistant", status: "completed", content: [{ type: "output_text", text, annotations: [] }] },
        ]),
    ...(answer.calls ?? []).map((call, index) => ({
      type: "function_call",
      id: `fc_${index}`,
      call_id: idOf(call, index),
      name: call.name,
      arguments: JSON.stringify(call.arguments),
      status: "completed",
    })),
  ];
}

/** Reasoning and calls that stand together are one turn. */
function turnsOf(input: readonly Item[]): WireTurn[] {
  const turns: (WireTurn & { calls: WireTurn["calls"][number][] })[] = [];
  let signed = false;
  for (const item of input) {
    if (item.type === "reasoning") signed = item.encrypted_content === SIGNATURE;
    else if (item.type === "function_call") {
      const call = { id: item.call_id ?? "", name: item.name ?? "", arguments: JSON.parse(item.arguments ?? "") as unknown };
      const last = turns.at(-1);
      if (last?.role === "assistant") last.calls.push(call);
      else turns.push({ role: "assistant", text: "", calls: [call], results: [], signed });
      signed = false;
    } else if (item.type === "function_call_output")
      turns.push({ role: "tool", text: item.output ?? "", calls: [], results: [item.call_id ?? ""], signed: false });
    else turns.push({ role: item.role ?? "user", text: item.content ?? "", calls: [], results: [], signed: false });
  }
  return turns;
}
