import type { AnyTool, ToolContext, ToolResult } from "../ports/agent.js";
import type { Found, LookUp } from "../ports/binding.js";
import { type HeldParts, heldTool } from "./binding-tool.js";
import { candidateOf } from "./stated.js";
import type { Verdict } from "./verdict.js";

/** A domain's tools as an agent gets them: those that bind behind the gate, those that look up with its marks. @throws INVALID_CONFIG */
export function gatedTools(tools: readonly AnyTool[], parts: HeldParts): readonly AnyTool[] {
  return tools.map((tool) => {
    const acts = tool.binds ?? tool.ends;
    if (acts !== undefined) return heldTool(tool, acts, parts);
    return tool.looksUp === undefined ? tool : markedTool(tool, tool.looksUp, parts);
  });
}

/** A tool that looks up: each thing found is told with what it breaks of the needs of those who come, and what isn't stated of it. */
function markedTool(tool: AnyTool, looksUp: LookUp, parts: HeldParts): AnyTool {
  return {
    ...tool,
    run: async (input: never, context) => {
      const { found, ...result } = await tool.run(input, context);
      return found === undefined ? result : marked(result, found, looksUp.for?.(input) ?? [], looksUp.bound === true, parts, context);
    },
  };
}

async function marked(
  result: ToolResult,
  found: Found,
  named: readonly string[],
  bound: boolean,
  parts: HeldParts,
  context: ToolContext,
): Promise<ToolResult> {
  if (found.items.length === 0) return result;
  const judge = await parts.gate.read(context, { toBook: bound, named });
  const companions = judge.people.once(named);
  const said = [...(context.earlierMessages ?? []), context.userMessage.content];
  const party = { companions, absent: [], size: companions.length + 1, said, sessionId: context.sessionId };
  const verdicts = found.items.map((item) => judge(candidateOf(item, "this", null, parts), party));
  const used = [...(result.used ?? []), ...verdicts.flatMap(({ checked }) => checked)];
  return { ...result, output: found.told(verdicts.map(markOf)), used };
}

/** In the words of the memories. What has neither is told as it is. */
function markOf({ conflicts, mentions }: Verdict) {
  const breaks = conflicts.map(({ need }) => need);
  const not_stated = mentions.flatMap(({ along, need }) => (along && need !== undefined ? [need] : []));
  return { ...(breaks.length > 0 && { breaks }), ...(not_stated.length > 0 && { not_stated }) };
}
