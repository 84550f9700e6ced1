import type { Element, ShownPart } from "../../domain/session.js";
import type { ChatEvent } from "../../ports/application.js";
import type { ChatAnswer } from "../../ports/resources.js";
import type { StreamForm } from "../chat-stream.js";
import type { EventStream } from "../sse.js";

/** Reasons as the AI SDK names them. */
const FINISH = { stop: "stop", length: "length", content_filter: "content-filter" } as const;

/**
 * The AI SDK's UI message stream, version 1: text, tool parts and data parts (`data-cards`, `data-quote`, `data-ticket`, `data-warning`,
 * each with its elements, and `data-question`) as they come; `data-memory` with what memory gave, `data-elements` with all elements, and
 * ids in the message's metadata. What a model takes back can't be taken back here.
 */
export function uiMessageStream(): StreamForm {
  const send = (stream: EventStream, chunk: object) => stream.sendData(JSON.stringify(chunk));
  let texts = 0;
  let isOpen = false;

  const say = async (stream: EventStream, delta: string) => {
    if (!isOpen) {
      isOpen = true;
      texts += 1;
      await send(stream, { type: "text-start", id: `text-${texts}` });
    }
    await send(stream, { type: "text-delta", id: `text-${texts}`, delta });
  };
  const endText = async (stream: EventStream) => {
    if (isOpen) await send(stream, { type: "text-end", id: `text-${texts}` });
    isOpen = false;
  };
  const tell = async (stream: EventStream, { id: toolCallId, name, input, output, error }: ChatAnswer["steps"][number]) => {
    await endText(stream);
    const of = { toolCallId, dynamic: true, providerExecuted: true };
    await send(stream, { type: "tool-input-available", ...of, toolName: name, input });
    if (error === null) await send(stream, { type: "tool-output-available", ...of, output });
    else await send(stream, { type: "tool-output-error", ...of, errorText: error });
  };
  const show = async (stream: EventStream, { type }: ShownPart, index: number, elements: readonly Element[]) => {
    await endText(stream);
    texts += 1;
    await send(stream, { type: `data-${type}`, id: `part-${index}`, data: { elements } });
  };
  /** One that was given before comes whole. */
  const tellAll = async (stream: EventStream, { parts, elements }: ChatAnswer) => {
    for (const [index, part] of parts.entries()) {
      if (part.type === "text") await say(stream, part.text);
      else if (part.type !== "question")
        await show(
          stream,
          part,
          index,
          elements.filter(({ id }) => part.elements.includes(id)),
        );
    }
  };
  const remember = (stream: EventStream, data: ChatAnswer["memory"]) => send(stream, { type: "data-memory", id: "memory", data });

  const onEvent = async (stream: EventStream, event: ChatEvent) => {
    if (event.type === "token") return say(stream, event.delta);
    if (event.type === "step") return tell(stream, event.step);
    if (event.type === "part") return show(stream, event.part, event.index, event.elements);
    if (event.type === "memory") return remember(stream, event.memory);
    if (event.type !== "session") return;
    const { session_id, turn, user_message_id } = event;
    await send(stream, { type: "start", messageMetadata: { session_id, turn, user_message_id } });
    await send(stream, { type: "start-step" });
  };

  return {
    headers: (sessionId) => ({ "X-Session-Id": sessionId, "X-Vercel-AI-UI-Message-Stream": "v1" }),
    onEvent,
    async onAnswer(stream, answer) {
      const { message, memory, elements, parts } = answer;
      if (texts === 0) await tellAll(stream, answer);
      await endText(stream);
      for (const part of parts) {
        const data = part.type === "question" && memory.to_confirm.find(({ id }) => id === part.memory_id);
        if (data) await send(stream, { type: "data-question", id: `question-${data.id}`, data });
      }
      await remember(stream, memory);
      if (elements.length > 0) await send(stream, { type: "data-elements", id: "elements", data: elements });
      await send(stream, { type: "finish-step" });
      const { finish = "stop", model } = message.metadata ?? {};
      await send(stream, { type: "finish", finishReason: FINISH[finish], messageMetadata: { message_id: message.id, model } });
      await stream.sendData("[DONE]");
    },
    async onError(stream, error) {
      await endText(stream);
      await send(stream, { type: "error", errorText: `${error.title}. ${error.hint}` });
      await stream.sendData("[DONE]");
    },
  };
}
