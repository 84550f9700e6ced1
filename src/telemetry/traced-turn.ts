import type { Chat } from "../ports/application.js";
import type { MemoryRecall } from "../ports/memories.js";
import type { ChatAnswer } from "../ports/resources.js";
import type { PendingTurn } from "../ports/session-store.js";
import { GEN_AI, MAITRED } from "./gen-ai.js";
import { inSpan } from "./spans.js";

/** Turns as spans: `invoke_agent {agent}`, with recall, model and tools below. `provider`: as the conventions name it. */
export function tracedChat(
  chat: Chat,
  { agent, model, provider }: { readonly agent: string; readonly model: string; readonly provider: string },
): Chat {
  const attributes = {
    [GEN_AI.operation]: "invoke_agent",
    [GEN_AI.agent]: agent,
    [GEN_AI.provider]: provider,
    [GEN_AI.requestModel]: model,
  };
  const traced = (sessionId: unknown, run: () => Promise<ChatAnswer>) =>
    inSpan(`invoke_agent ${agent}`, { attributes }, async (span) => {
      if (typeof sessionId === "string") span.setAttribute(GEN_AI.conversation, sessionId);
      const answer = await run();
      const { session_id, turn, memory, usage } = answer;
      span.setAttributes({
        [GEN_AI.conversation]: session_id,
        [MAITRED.turn]: turn,
        [MAITRED.memoryStatus]: memory.status,
        [GEN_AI.inputTokens]: usage.input_tokens,
        [GEN_AI.outputTokens]: usage.output_tokens,
      });
      return answer;
    });
  return {
    chat: (request, options) => traced(request.sessionId, () => chat.chat(request, options)),
    resume: (request, options) => traced(request.sessionId, () => chat.resume(request, options)),
  };
}

export function tracedRecall(longTerm: MemoryRecall): MemoryRecall {
  return {
    recall: (owner, request) =>
      inSpan("recall", { attributes: {} }, async (span) => {
        const result = await longTerm.recall(owner, request);
        span.setAttributes({ [MAITRED.memoryStatus]: result.status, [MAITRED.memories]: result.memories.length });
        return result;
      }),
  };
}

/** A try to write a turn back. A trace of its own: the turn's may be long over. */
export function tracedWriteBack<T>({ sessionId, turn, attempts }: PendingTurn, work: () => Promise<T>): Promise<T> {
  const attributes = { [GEN_AI.conversation]: sessionId, [MAITRED.turn]: turn, [MAITRED.attempt]: attempts + 1 };
  return inSpan("write_back", { attributes, root: true }, work);
}

/** What follows a write-back: summary, topic, title. */
export function tracedUpkeep<T>(sessionId: string, work: () => Promise<T>): Promise<T> {
  return inSpan("session_upkeep", { attributes: { [GEN_AI.conversation]: sessionId }, root: true }, work);
}
