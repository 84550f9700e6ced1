import type { AnyTool, Domain } from "../ports/agent.js";
import { OFF_RECORD } from "./need-talk.js";

/** A product of a prompt and tools alone: general categories, no needs of its own. */
export function assistant(prompt = "You are a helpful assistant.", tools: readonly AnyTool[] = []): Domain {
  return { name: "assistant", prompt, tools, offRecord: OFF_RECORD };
}
