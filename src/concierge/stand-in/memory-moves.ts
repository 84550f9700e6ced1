import type { ScriptCall, ScriptMove, ScriptView } from "../../ports/offline-script.js";
import type { Intent } from "../script/intent.js";
import type { MemoryChoice } from "../script/memory-choice.js";
import { rememberCall } from "../script/statements.js";
import { changeMemories } from "./memory-changes.js";
import { callThen, say } from "./moves.js";
import * as replies from "./replies.js";

/** Commands about memory, as moves. */

/** In one message: as many calls as the tool takes in a turn. */
const MAX_FORGOTTEN = 5;

export function command(asked: Extract<Intent, { kind: "command" }>["command"], view: ScriptView): ScriptMove {
  const change = (call: ScriptCall) => changeMemories(view, [call]);
  switch (asked.kind) {
    case "list":
      return view.tools.has("list_memories") || view.observations.length > 0
        ? callThen(view, { name: "list_memories", arguments: {} }, (seen) => replies.memoriesReply(seen.output, view.memories))
        : say(replies.memoriesReply(null, view.memories));
    case "remember":
      return change(rememberCall(asked.text, quoteOf(asked.text, view.message)));
    case "forget":
      return forget(view);
    case "forget_all":
      return change({ name: "forget", arguments: { what: "everything", everything: true } });
    case "no_longer": {
      // Where the guest only points, what was spoken of is in the message before.
      const what = asked.what !== "" ? asked.what : (view.window.at(-1)?.assistant ?? "").slice(0, 500);
      return what === ""
        ? say("What is no longer true? Tell me in a sentence.")
        : change({ name: "no_longer_true", arguments: { what, quote: view.message } });
    }
    case "do_not_remember":
      return say(replies.NOT_KEPT);
  }
}

/** All that the message asks to forget, each with a call of its own. */
function forget(view: ScriptView): ScriptMove {
  const things = view.commands.flatMap((command) => (command.kind === "forget" ? [command.what] : []));
  return changeMemories(
    view,
    things.slice(0, MAX_FORGOTTEN).map((what) => ({ name: "forget", arguments: { what } })),
  );
}

export function chooseMemory({ tool, what, memoryId }: MemoryChoice, view: ScriptView): ScriptMove {
  if (memoryId === null) return say("Then I have changed nothing.");
  const named = { what, memory_id: memoryId };
  const call = { name: tool, arguments: tool === "forget" ? named : { ...named, quote: view.message } };
  return callThen(view, call, replies.memoryChangeReply);
}

/** The message's own bytes: a command is read with its apostrophes straightened. */
function quoteOf(text: string, message: string): string {
  const at = message.replace(/[\u2018\u2019\u02BC]/g, "'").indexOf(text);
  return at === -1 ? message : message.slice(at, at + text.length);
}
