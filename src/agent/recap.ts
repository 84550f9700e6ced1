import { withoutLists } from "../domain/recap.js";
import type { JsonValue } from "../domain/session.js";
import type { AnyTool } from "../ports/agent.js";

/**
 * What later turns are told of a tool's output, by the tool's name; the whole of what a tool that isn't there any more gave. `isOld`: the
 * turn is far back, and what was listed in it is told no more: who comes back to it has it looked up.
 */
export function recapOf(
  tools: readonly Pick<AnyTool, "name" | "recap">[],
): (name: string, output: JsonValue, isOld?: boolean) => JsonValue {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return (name, output, isOld = false) => {
    const told = byName.get(name)?.recap?.(output);
    return told === undefined ? output : isOld ? withoutLists(told) : told;
  };
}
