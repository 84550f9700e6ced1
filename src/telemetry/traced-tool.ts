import type { AnyTool } from "../ports/agent.js";
import { GEN_AI } from "./gen-ai.js";
import { instead } from "./instead.js";
import { inSpan } from "./spans.js";

/** A tool whose runs are spans: `execute_tool {tool}`. Neither what it is given nor what it gives is told. */
export function tracedTool(tool: AnyTool): AnyTool {
  return instead(tool, {
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
