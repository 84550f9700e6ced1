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
      return found === undefined ? result : marked(result, found, { ...looksUp, named: looksUp.for?.(input) ?? [] }, parts, context);
    },
  };
}

async function marked(
  result: ToolResult,
  found: Found,
  { named, bound = false, with: with_ }: LookUp & { readonly named: readonly string[] },
  parts: HeldParts,
  context: ToolContext,
): Promise<ToolResult> {
  if (found.items.length === 0) return result;
  const { userMessage, sessionId, earlierMessages = [] } = context;
  const coming = found.items.map((item) => [...named, ...(with_?.(item) ?? [])]);
  const judge = await parts.gate.read(context, { toBook: bound, named: [...new Set(coming.flat())] });
  const said = [...earlierMessages, userMessage.content];
  const uncounted = bound && with_ === undefined ? { uncounted: userMessage.content } : {};
  const verdicts = found.items.map((item, at) => {
    const companions = judge.people.once(coming[at] ?? []);
    const party = { companions, absent: [], size: companions.length + 1, said, sessionId, ...uncounted };
    return judge(candidateOf(item, "this", null, parts), party);
  });
  const used = [...(result.used ?? []), ...verdicts.flatMap(({ checked }) => checked)];
  return { ...result, output: found.told(verdicts.map(markOf)), used };
}

/** In the words of the memories. What has neither is told as it is. */
function markOf({ conflicts, mentions }: Verdict) {
  const breaks = conflicts.map(({ need }) => need);
  const [not_stated, if_along] = [true, false].map((comes) =>
    mentions.flatMap(({ along, need }) => (along === comes && need !== undefined ? [need] : [])),
  ) as [string[], string[]];
  return {
    ...(breaks.length > 0 && { breaks }),
    ...(not_stated.length > 0 && { not_stated }),
    ...(if_along.length > 0 && { if_along }),
  };
}
