import type { ChatModel, ModelEvent, ModelRequest } from "../../src/ports/agent.js";
import type { ModelTask } from "../../src/ports/chat-model.js";

/** The document that a reader is given. */
export interface ReadDocument {
  readonly MESSAGE: string;
  readonly EARLIER?: readonly { readonly id: string; readonly MESSAGE: string; readonly QUESTION: string | null }[];
  readonly KNOWN: readonly { readonly id: string; readonly text: string }[];
}

type Step = string | { readonly name: string; readonly arguments: unknown } | Error;

/** Answers by task. Every call costs 100 tokens of input, 40 of them cached, and 10 of output. */
export class TaskModel implements ChatModel {
  readonly name = "by task";
  readonly standIn = false;
  readonly requests: ModelRequest[] = [];
  /** The next answers to the guest, in order; then "Very well." */
  readonly replies: Step[] = [];
  /** What a message gives, or a promise of it: operations with their quotes. */
  read: (document: ReadDocument) => unknown = () => ({ off_record: null, operations: [] });

  of(task: ModelTask): readonly ModelRequest[] {
    return this.requests.filter((request) => (request.task ?? "chat") === task);
  }

  /** The documents of the calls that read messages. */
  get documents(): readonly ReadDocument[] {
    return this.of("extraction").map(documentOf);
  }

  async *stream(request: ModelRequest): AsyncGenerator<ModelEvent, void, undefined> {
    this.requests.push(request);
    const step = await this.#stepFor(request);
    if (step instanceof Error) throw step;
    if (typeof step === "string") yield { type: "text", delta: step };
    else
      yield { type: "tool_call", call: { id: `call_${this.requests.length}`, name: step.name, arguments: JSON.stringify(step.arguments) } };
    const usage = { input_tokens: 100, cached_tokens: 40, output_tokens: 10 };
    yield { type: "end", reason: typeof step === "string" ? "stop" : "tool_calls", usage };
  }

  async #stepFor(request: ModelRequest): Promise<Step> {
    if (request.task === "extraction") return JSON.stringify(await this.read(documentOf(request)));
    if (request.task === "summary") return "They spoke of many things.";
    if (request.task === "title") return "An evening out";
    return this.replies.shift() ?? "Very well.";
  }
}

function documentOf(request: ModelRequest): ReadDocument {
  return JSON.parse(request.messages.find(({ role }) => role === "user")?.content ?? "") as ReadDocument;
}

/** A need of the guest's own, as a reading proposes it. */
export function needQuoted(quote: string, about: string, need: string) {
  const text = `Needs: ${about}`;
  return { op: "add", quote, text, about, category: "dietary", strength: "hard", need, type: "constraint", stance: "stated" };
}

/** Finds the allergy in whatever it is given, by its words. */
export function readsNuts({ MESSAGE, EARLIER = [] }: ReadDocument) {
  const texts = [...EARLIER.map((each) => each.MESSAGE), MESSAGE];
  return { off_record: null, operations: texts.filter((text) => text.includes("Nut")).map((text) => needQuoted(text, "Nut", "no_nuts")) };
}

/** Finds a liking in whatever it is given, by its words: one that can wait. */
export function readsJazz({ MESSAGE, EARLIER = [] }: ReadDocument) {
  const texts = [...EARLIER.map((each) => each.MESSAGE), MESSAGE];
  const note = (quote: string) => ({ op: "add", quote, text: "Likes jazz", about: "jazz", category: "genre", stance: "stated" });
  return { off_record: null, operations: texts.filter((text) => text.includes("jazz")).map(note) };
}
