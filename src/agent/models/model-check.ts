import { collected } from "../../platform/collected.js";
import { isAppError } from "../../platform/errors.js";
import { wholeJsonIn } from "../../platform/json.js";
import type { ChatModel, ModelEvent, ModelMessage, ModelToolCall } from "../../ports/chat-model.js";

/** What one small call showed, in plain words. */
export interface ModelFinding {
  readonly check: "Model" | "Tools" | "What it takes";
  readonly status: "ok" | "warn" | "fail";
  readonly detail: string;
  /** What to do; null where nothing is to be done. */
  readonly advice: string | null;
}

const LOOK_UP = {
  name: "look_up",
  description: "Looks up the opening hours of a place.",
  parameters: { type: "object", properties: { place: { type: "string" } }, required: ["place"] },
};

/** Small real calls: plain, and with a tool and its result. A few hundred tokens in all. */
export async function* checkModel(model: ChatModel, signal: AbortSignal): AsyncGenerator<ModelFinding, void, undefined> {
  const started = performance.now();
  let events: ModelEvent[];
  try {
    events = await collected(
      model.stream({ messages: [{ role: "user", content: "Say hello in one word." }], maxOutputTokens: 200 }, { signal }),
    );
  } catch (error) {
    return yield { check: "Model", status: "fail", ...told(error) };
  }
  yield finding("Model", `${model.name} answers, in ${Math.round(performance.now() - started)} ms`);
  const usage = events.at(-1);
  if (usage?.type === "end" && usage.usage.input_tokens === 0)
    yield finding("Model", "tells no usage", "Tokens of this model are counted as 0: cost limits and metrics don't see them.");
  yield await toolFinding(model, signal);
  for (const fact of model.facts?.() ?? []) yield { check: "What it takes", status: "ok", detail: fact, advice: null };
}

async function toolFinding(model: ChatModel, signal: AbortSignal): Promise<ModelFinding> {
  const messages: ModelMessage[] = [{ role: "user", content: "When does the town library open? Use the tool." }];
  const advice = "It converses, but can't search, book or remember on request. Use a model that calls tools, or a server that lets it.";
  try {
    const events = await collected(model.stream({ messages, tools: [LOOK_UP] }, { signal }));
    const call = events.find((event) => event.type === "tool_call")?.call;
    const end = events.find((event) => event.type === "end");
    if (call === undefined) return finding("Tools", "no tool was called, though it was asked for", advice);
    if (!isObject(call)) return finding("Tools", "a tool was called, but its arguments can't be read", advice);
    messages.push(
      { role: "assistant", content: "", tool_calls: [call], ...(end?.provider !== undefined && { provider: end.provider }) },
      { role: "tool", tool_call_id: call.id, content: '{"opens":"09:00"}' },
    );
    await collected(model.stream({ messages, tools: [LOOK_UP] }, { signal }));
    return finding("Tools", "calls tools, and reads what they give");
  } catch (error) {
    return { check: "Tools", status: "fail", ...told(error) };
  }
}

function finding(check: ModelFinding["check"], detail: string, advice: string | null = null): ModelFinding {
  return { check, status: advice === null ? "ok" : "warn", detail, advice };
}

function told(error: unknown): { readonly detail: string; readonly advice: string | null } {
  return isAppError(error) ? { detail: `${error.code}: ${error.message}`, advice: error.hint } : { detail: "failed", advice: null };
}

function isObject({ arguments: text }: ModelToolCall): boolean {
  return wholeJsonIn(text)?.startsWith("{") === true;
}
