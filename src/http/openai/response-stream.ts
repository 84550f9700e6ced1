import { newId } from "../../platform/ids.js";
import type { ChatAnswer } from "../../ports/resources.js";
import type { StreamForm } from "../chat-stream.js";
import type { EventStream } from "../sse.js";
import { openAiErrorOf } from "./errors.js";
import {
  begunResponse,
  callItem,
  type Echoed,
  endedResponse,
  messageItem,
  messageItemId,
  type ResponseBody,
  textPart,
} from "./response.js";

/** The typed events of Responses: numbered, each with what it is about. */
export function responseStream(modelName: string, echoed: Echoed): StreamForm {
  const itemId = messageItemId(newId());
  const at = { output_index: 0, content_index: 0, item_id: itemId };
  let response: ResponseBody = begunResponse(newId(), modelName, echoed, new Date());
  let next = 0;
  let opened = false;
  const send = (stream: EventStream, type: string, more: object) => {
    const event = { type, sequence_number: next, ...more };
    next += 1;
    return stream.sendData(JSON.stringify(event), type);
  };

  const say = async (stream: EventStream, delta: string) => {
    if (!opened) {
      opened = true;
      await send(stream, "response.output_item.added", { output_index: 0, item: messageItem(itemId, null) });
      await send(stream, "response.content_part.added", { ...at, part: textPart("") });
    }
    await send(stream, "response.output_text.delta", { ...at, delta, logprobs: [] });
  };

  const endMessage = async (stream: EventStream, text: string) => {
    await send(stream, "response.output_text.done", { ...at, text, logprobs: [] });
    await send(stream, "response.content_part.done", { ...at, part: textPart(text) });
    await send(stream, "response.output_item.done", { output_index: 0, item: messageItem(itemId, text) });
  };

  const call = async (stream: EventStream, output_index: number, made: NonNullable<ChatAnswer["calls"]>[number]) => {
    const item = callItem(made);
    const place = { output_index, item_id: item.id };
    await send(stream, "response.output_item.added", { output_index, item: { ...item, status: "in_progress", arguments: "" } });
    await send(stream, "response.function_call_arguments.delta", { ...place, delta: item.arguments });
    await send(stream, "response.function_call_arguments.done", { ...place, name: item.name, arguments: item.arguments });
    await send(stream, "response.output_item.done", { output_index, item });
  };

  return {
    async onEvent(stream, event) {
      if (event.type === "token") await say(stream, event.delta);
      if (event.type !== "session") return;
      response = begunResponse(event.session_id, modelName, echoed, new Date());
      await send(stream, "response.created", { response });
      await send(stream, "response.in_progress", { response });
    },
    async onAnswer(stream, answer) {
      const { content } = answer.message;
      // One that was given before comes whole.
      if (!opened && content !== "") await say(stream, content);
      if (opened) await endMessage(stream, content);
      for (const [index, made] of (answer.calls ?? []).entries()) await call(stream, index + (opened ? 1 : 0), made);
      const ended = endedResponse(response, answer, itemId);
      await send(stream, `response.${ended.status}`, { response: ended });
    },
    async onError(stream, error) {
      const { code, message } = openAiErrorOf(error).error;
      await send(stream, "response.failed", { response: { ...response, status: "failed", error: { code, message } } });
    },
  };
}
