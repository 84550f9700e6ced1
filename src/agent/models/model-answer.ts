import type { ProviderState } from "../../domain/session.js";
import { wholeJsonIn } from "../../platform/json.js";
import type { ModelEvent, ModelRequest, ModelToolCall } from "../../ports/chat-model.js";
import { FENCE } from "./answer-marks.js";
import { AnswerSorter, type ProviderEvent } from "./answer-sorter.js";
import { givenIds } from "./call-ids.js";
import type { Capabilities } from "./capabilities.js";
import { EndpointFailure } from "./endpoint-failure.js";
import { readCall, writtenCalls } from "./written-calls.js";

export interface AnswerContext {
  readonly request: ModelRequest;
  readonly known: Capabilities;
  /** Names the adapter, endpoint and model in {@link ProviderState.by}. */
  readonly by: string;
  /** Told what an answer shows of the model that no refusal would. */
  readonly onSeen: (seen: Partial<Capabilities>) => void;
}

/**
 * What a caller gets of what an endpoint gave: no thought, written calls read, JSON found, ids within limits.
 * @throws EndpointFailure `only_thought` where a guest's answer's limit went into thought
 */
export async function* modelAnswer(
  events: AsyncIterable<ProviderEvent>,
  { request, known, by, onSeen }: AnswerContext,
): AsyncGenerator<ModelEvent, void, undefined> {
  const tools = known.tools ? (request.tools ?? []) : [];
  const thinksFirst = known.thinksFirst ?? mayThinkFirst(by);
  const named = request.tools ?? [];
  const isCall = (text: string) => writtenCalls(FENCE.open, text, named) !== null;
  const sorter = new AnswerSorter({ thinksFirst, ...(named.length > 0 && request.json === undefined && { isCall }) });
  const calls: ModelToolCall[] = [];
  // What nobody reads along is given whole: then nothing has to be taken back.
  const readAlong = request.json === undefined && (request.task ?? "chat") === "chat";
  let thought = false;
  let text = "";
  for await (const event of events) {
    if (event.type === "thought") thought = true;
    else if (event.type === "call") calls.push(readCall(event.call, named));
    else if (event.type === "text") {
      const began = sorter.endWithoutBegin;
      const delta = sorter.push(event.delta);
      if (sorter.endWithoutBegin && !began && text !== "") {
        text = "";
        if (readAlong) yield { type: "retract" };
      }
      text += delta;
      if (delta !== "" && readAlong) yield { type: "text", delta };
    } else {
      let rest = sorter.end();
      for (const { mark, text: inner } of sorter.written) {
        const read = writtenCalls(mark, inner, named);
        // A call that can't be read is no word of an answer: one without any is asked for again.
        if (read === null) rest += mark === "" ? inner : "";
        else if (tools.length > 0) calls.push(...read);
      }
      text += rest;
      const left = readAlong ? rest : request.json === undefined ? text : "";
      if (left !== "") yield { type: "text", delta: left };
      thought ||= sorter.thought;
      if (thought && !known.thinks) {
        // Nobody waits for the others: whoever asked sees to it, and is asked with room for thought the next time.
        if (readAlong && event.reason === "length" && text.trim() === "" && calls.length === 0) throw new EndpointFailure("only_thought");
        onSeen({ thinks: true });
      }
      if (sorter.endWithoutBegin && known.thinksFirst !== true) onSeen({ thinksFirst: true });
      // Waited for in vain: from the next answer on it is streamed as it comes.
      else if (thinksFirst && known.thinksFirst === null && text.trim() !== "") onSeen({ thinksFirst: false });
      if (request.json !== undefined) yield* jsonText(text, event.reason === "length", known, onSeen);
      const { given, ids } = givenIds(calls);
      for (const call of given) yield { type: "tool_call", call };
      const state: ProviderState | null =
        event.state === undefined && Object.keys(ids).length === 0 ? null : { by, data: { state: event.state ?? null, ids } };
      yield {
        type: "end",
        reason:
          given.length > 0 && event.reason === "stop"
            ? "tool_calls"
            : event.reason === "tool_calls" && given.length === 0
              ? "stop"
              : event.reason,
        usage: event.usage,
        ...(state !== null && given.length > 0 && { provider: state }),
      };
      return;
    }
  }
  throw new EndpointFailure("unreadable");
}

const THINKING = ["deepseek", "r1", "qwen", "qwq", "think", "reason", "magistral", "glm", "minimax", "nemotron"];

/**
 * Whether an answer of which nothing is known yet is held back until it ends or its thought does: models of these families are served with
 * a template that begins their thought in the prompt, and nothing in the text tells its begin.
 */
function mayThinkFirst(by: string): boolean {
  const model = by.slice(by.lastIndexOf(" ") + 1).toLowerCase();
  return THINKING.some((family) => model.includes(family));
}

function* jsonText(
  text: string,
  cut: boolean,
  known: Capabilities,
  onSeen: AnswerContext["onSeen"],
): Generator<ModelEvent, void, undefined> {
  // Of one that was cut a part may be whole, and mean something else.
  const json = cut ? null : wholeJsonIn(text);
  if (known.jsonAnswers !== "given") {
    // Prose is its caller's to repair, as every answer is paid for.
    if (json !== null) onSeen({ json: known.json, jsonAnswers: "given" });
    else if (!cut && text.trim() !== "") onSeen({ jsonAnswers: known.jsonAnswers === "prose" ? "unseen" : "prose" });
  }
  const delta = json ?? text;
  if (delta !== "") yield { type: "text", delta };
}
