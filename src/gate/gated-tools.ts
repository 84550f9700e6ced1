import type { AnyTool } from "../ports/agent.js";
import { type HeldParts, heldTool } from "./binding-tool.js";
import { markedTool } from "./looked-up.js";

/** A domain's tools as an agent gets them: those that bind behind the gate, those that look up with its marks. @throws INVALID_CONFIG */
export function gatedTools(tools: readonly AnyTool[], parts: HeldParts): readonly AnyTool[] {
  return tools.map((tool) => {
    const acts = tool.binds ?? tool.ends;
    if (acts !== undefined) return heldTool(tool, acts, parts);
    return tool.looksUp === undefined ? tool : markedTool(tool, tool.looksUp, parts);
  });
}
