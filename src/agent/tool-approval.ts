import type { JsonValue } from "../domain/session.js";
import { approvalElement, hashOf } from "../gate/approval.js";
import type { BeforeTool, ToolContext, ToolResult } from "../ports/agent.js";

/** What a call waits for, or why it is not to run. */
export type Held = { readonly refused: string } | { readonly waiting: ToolResult };

/** A call as the model made it (`arguments`), and as its tool is given it (`input`). */
interface HeldCall {
  readonly tool: string;
  readonly arguments: JsonValue;
  readonly input: unknown;
}

/** Asks the hook; null where the call may run: the hook says nothing, or the user approved just this call. */
export async function heldBack(hook: BeforeTool, call: HeldCall, context: ToolContext): Promise<Held | null> {
  const verdict = await hook({ tool: call.tool, input: call.input, context });
  if (verdict === undefined) return null;
  if ("refuse" in verdict) return { refused: verdict.refuse };
  const token = hashOf(context.owner, context.sessionId, call.tool, call.arguments);
  if (context.consent === token) return null;
  const shown = approvalElement(token, { tool: call.tool, question: verdict.ask, input: call.arguments });
  const output = {
    needs_approval: verdict.ask,
    note: "It has not run. Ask the user; once they approve, call it again with the same input.",
  };
  return { waiting: { output, elements: [shown] } };
}
