import type { JsonValue, Usage } from "../../domain/session.js";
import type { FinishReason, ModelToolCall } from "../../ports/chat-model.js";

/** What an adapter reads off its endpoint, before it is sorted into what a caller of {@link ChatModel} gets. */
export type ProviderEvent =
  /** As the model wrote it: thought and calls may stand in it. */
  | { readonly type: "text"; readonly delta: string }
  /** Thought that the endpoint tells apart. */
  | { readonly type: "thought" }
  | { readonly type: "call"; readonly call: ModelToolCall }
  /** Always last. `state`: what must go back with the calls. */
  | { readonly type: "end"; readonly reason: FinishReason; readonly usage: Usage; readonly state?: JsonValue };
