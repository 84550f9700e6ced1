import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

/** What a turn is recorded with, in a built checkout: class, what returns at once where nothing is to be recorded, what writes it all now. */
const RECORDERS = [
  ["after-turn/turn-recording.js", "TurnRecording", { turnEnded: "undefined" }, "settled"],
  ["state/turn-records/turn-records.js", "EngineTurnRecords", { put: "Promise.resolve()" }, null],
  ["state/conversations/conversation-list.js", "EngineConversationList", { touched: "undefined" }, "settled"],
  ["state/counters/batched-sums.js", "EnginePlots", { add: "undefined" }, "close"],
] as const;

/** A module by which the parent of a server turns its recording on and off (`record`, `rest`), and has it written now (`settle`). */
export function recordingHook(serverPath: string): string {
  const patched = RECORDERS.map(([file, name, idle, settle]) => {
    const url = pathToFileURL(join(dirname(serverPath), file)).href;
    const methods = Object.entries(idle).map(
      ([method, result]) => `{ const real = ${name}.prototype.${method};
        ${name}.prototype.${method} = function (...given) {
          if (!records) return ${result};
          ${settle === null ? "" : `settling.set(${JSON.stringify(name)}, () => this.${settle}());`}
          return real.apply(this, given);
        }; }`,
    );
    return `const { ${name} } = await import(${JSON.stringify(url)});\n${methods.join("\n")}`;
  });
  const listens = `let records = true;
    const settling = new Map();
    process.on("message", (told) => {
      if (told === "settle") for (const settle of settling.values()) void settle();
      else if (told !== "usage") records = told === "record";
    });`;
  return `data:text/javascript,${encodeURIComponent([listens, ...patched].join("\n"))}`;
}
