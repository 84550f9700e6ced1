import type { AnyTool } from "../../ports/agent.js";
import { forgetTool, noLongerTrueTool } from "./forget-tools.js";
import { listMemoriesTool, searchMemoriesTool } from "./look-up-tools.js";
import { rememberTool } from "./remember-tool.js";
import { settleMemoryTool } from "./settle-memory.js";
import type { MemoryToolParts } from "./tool-turn.js";

/**
 * What the model does with memory at the guest's word. What the guest means is the model's to understand, in any language; the tools hold
 * what is structural: a quote from the guest's own message, the checks that all memories pass, and questions that were really asked. Each
 * result tells what was stored, so that an answer claims no more.
 */
export function memoryTools(parts: MemoryToolParts): readonly AnyTool[] {
  return [
    rememberTool(parts),
    forgetTool(parts),
    noLongerTrueTool(parts),
    searchMemoriesTool(parts),
    listMemoriesTool(parts),
    settleMemoryTool(parts),
  ];
}
