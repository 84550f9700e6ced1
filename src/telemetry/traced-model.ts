import { type Span, SpanKind } from "@opentelemetry/api";
import { withMembers } from "../platform/with-members.js";
import type { AnyTool } from "../ports/agent.js";
import type { ChatModel, ModelCallOptions, ModelEvent, ModelRequest } from "../ports/chat-model.js";
import { beginSpan, failSpan, GEN_AI, inSpan, MAITRED, within } from "./spans.js";

/** A model whose calls are spans: `chat {model}`. `provider`: as the conventions name it. */
export function tracedModel(model: ChatModel, provider: string): ChatModel {
  return withMembers(model, { stream: (request, options) => traced(model, provider, request, options) });
}

async function* traced(
  model: ChatModel,
  provider: string,
  request: ModelRequest,
  options: ModelCallOptions,
): AsyncGenerator<ModelEvent, void, undefined> {
  const span = beginSpan(`chat ${model.name}`, {
    kind: SpanKind.CLIENT,
    attributes: {
      [GEN_AI.operation]: "chat",
      [GEN_AI.provider]: provider,
      [GEN_AI.requestModel]: model.name,
      [MAITRED.task]: request.task ?? "chat",
      ...(request.maxOutputTokens !== undefined && { [GEN_AI.maxTokens]: request.maxOutputTokens }),
    },
  });
  const end = () => {
    if (span.isRecording()) span.end();
  };
  // A model that pays no heed to the signal would keep the span open for ever.
  const aborted = () => {
    failSpan(span, options.signal.reason);
    end();
  };
  options.signal.addEventListener("abort", aborted, { once: true });
  const events = within(span, () => model.stream(request, options)[Symbol.asyncIterator]());
  try {
    for (;;) {
      const next = await within(span, () => events.next());
      if (next.done === true) return;
      if (next.value.type === "end") tellEnd(span, next.value);
      yield next.value;
    }
  } catch (error) {
    if (span.isRecording()) failSpan(span, error);
    throw error;
  } finally {
    options.signal.removeEventListener("abort", aborted);
    end();
    await events.return?.();
  }
}

function tellEnd(span: Span, { reason, usage, model }: Extract<ModelEvent, { type: "end" }>): void {
  span.setAttributes({
    [GEN_AI.finishReasons]: [reason],
    [GEN_AI.inputTokens]: usage.input_tokens,
    [GEN_AI.outputTokens]: usage.output_tokens,
    ...(usage.cached_tokens !== undefined && { [GEN_AI.cachedTokens]: usage.cached_tokens }),
    ...(model !== undefined && { [GEN_AI.responseModel]: model }),
  });
}

/** A tool whose runs are spans: `execute_tool {tool}`. Neither what it is given nor what it gives is told. */
export function tracedTool(tool: AnyTool): AnyTool {
  return withMembers(tool, {
    run: (input, context) =>
      inSpan(
        `execute_tool ${tool.name}`,
        {
          attributes: {
            [GEN_AI.operation]: "execute_tool",
            [GEN_AI.tool]: tool.name,
            [GEN_AI.toolType]: "function",
            ...(context.callId !== undefined && { [GEN_AI.toolCall]: context.callId }),
          },
        },
        async () => tool.run(input, context),
      ),
  });
}
