import type { JsonValue } from "../domain/session.js";
import type { AnyTool } from "../ports/agent.js";

/** What later turns are told of a tool's output, by the tool's name; the whole of what a tool that isn't there any more gave. */
export function recapOf(tools: readonly Pick<AnyTool, "name" | "recap">[]): (name: string, output: JsonValue) => JsonValue {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return (name, output) => byName.get(name)?.recap?.(output) ?? output;
}
