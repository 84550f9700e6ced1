import type { ScriptView } from "../../src/ports/offline-script.js";

/** What a script sees where a conversation begins, nothing is known and no tool is there, but for what is given. */
export function scriptView(given: Partial<ScriptView>): ScriptView {
  const { message = "" } = given;
  return {
    message,
    commands: [],
    request: message,
    waiting: [],
    now: new Date("2026-03-11T10:00:00Z"),
    timeZone: "UTC",
    memories: [],
    summary: "",
    references: "",
    pageContext: "",
    window: [],
    observations: [],
    memoryIsOff: false,
    tools: new Set(),
    ...given,
  };
}
