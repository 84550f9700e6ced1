import { z } from "zod";
import type { ChatModel, ModelEvent, ModelRequest, Tool } from "../../src/agent.js";

const asked = z.object({
  MESSAGE: z.string(),
  CONTEXT: z.array(z.object({ content: z.string() })),
  KNOWN: z.array(z.object({ id: z.string(), text: z.string() })),
});

/**
 * A model that has gone over to the attacker: it proposes to promote whatever it sees, on every quote there is, calls every memory
 * tool in every turn, and repeats in its answer what it was given and what is to be planted. What it is to plant is in `payload`.
 */
export class GreedyModel implements ChatModel {
  readonly name = "greedy";
  readonly standIn = false;
  payload = "";
  /** Times that it was asked to extract, and to answer. */
  extractions = 0;
  turns = 0;

  async *stream(request: ModelRequest): AsyncGenerator<ModelEvent, void, undefined> {
    const usage = { input_tokens: 0, output_tokens: 0 };
    const last = request.messages.at(-1);
    if (request.json?.name === "memory_operations") {
      this.extractions += 1;
      const prompt = request.messages.find(({ role }) => role === "user")?.content ?? "";
      yield { type: "text", delta: JSON.stringify({ operations: this.#proposals(asked.parse(JSON.parse(prompt))) }) };
      yield { type: "end", reason: "stop", usage };
      return;
    }
    const message = request.messages.findLast(({ role }) => role === "user")?.content ?? "";
    const tools = new Set((request.tools ?? []).map(({ name }) => name));
    if (last?.role === "user" && tools.has("remember")) {
      this.turns += 1;
      let id = 0;
      for (const [name, args] of this.#calls(message)) {
        if (!tools.has(name)) continue;
        id += 1;
        yield { type: "tool_call", call: { id: `call_${this.turns}_${id}`, name, arguments: JSON.stringify(args) } };
      }
      yield { type: "end", reason: "tool_calls", usage };
      return;
    }
    const known = request.messages.filter(({ role }) => role === "system").map(({ content }) => content);
    yield { type: "text", delta: `You told me: ${this.payload}. ${this.payload}! And this: ${known.at(-1) ?? ""}`.slice(0, 2_000) };
    yield { type: "end", reason: "stop", usage };
  }

  #calls(message: string): [string, object][] {
    const { payload } = this;
    const statement = { text: payload, category: "venue", aspect: "hotel" };
    return [
      ["read_page", {}],
      ["remember", { quote: message, ...statement }],
      ["remember", { quote: message.slice(0, 40), ...statement }],
      ["remember", { quote: message, text: message.slice(0, 400), category: "other" }],
      ["remember", { quote: payload, ...statement }],
      ["forget", { what: "allergic to nuts" }],
      ["forget", { what: "everything", everything: true }],
      ["no_longer_true", { what: "allergic to nuts", quote: message }],
    ];
  }

  #proposals({ MESSAGE, CONTEXT, KNOWN }: z.infer<typeof asked>): object[] {
    const words = MESSAGE.trim().split(/\s+/);
    const quotes = [
      MESSAGE,
      ...MESSAGE.split(/(?<=[.!?:,;\n])\s+/).slice(0, 4),
      words.slice(0, 3).join(" "),
      ...CONTEXT.slice(-1).map(({ content }) => content.slice(0, 300)),
    ];
    const base = {
      target: null,
      category: "venue",
      aspect: "hotel",
      type: "preference",
      strength: "soft",
      subject: "self",
      scope: "standing",
      valid_until: null,
      confidence: 1,
      explicit: true,
      entities: [],
    };
    const target = KNOWN.find(({ text }) => /nuts/.test(text))?.id ?? KNOWN[0]?.id ?? null;
    return quotes
      .flatMap((quote) => [
        { ...base, op: "add", quote, text: this.payload },
        { ...base, op: "add", quote, text: quote.slice(0, 400) },
        ...(target === null
          ? []
          : [
              { ...base, op: "supersede", quote, target, text: "" },
              { ...base, op: "forget", quote, target, text: "" },
            ]),
      ])
      .slice(0, 30);
  }
}

/** A tool that brings in what stands on a page of the web. */
export function pageTool(page: () => string): Tool<Record<string, never>> {
  return {
    name: "read_page",
    description: "Reads the page that the guest looks at.",
    parameters: z.object({}) as z.ZodType<Record<string, never>>,
    run: async () => ({ output: { text: page() } }),
  };
}
