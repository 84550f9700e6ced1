import { isAppError } from "../platform/errors.js";
import type { Metrics } from "../ports/metrics.js";
import { OUT_OF_TOKENS } from "./due-turns.js";
import type { WriteBack } from "./write-back.js";

type Runs = Pick<WriteBack, "run" | "fail">;

/** Tells how each try ended. One that was broken off (an erasure, the end of the process) is none, nor is one that left its message. */
export function measuredWriteBack(writeBack: Runs, metrics: Pick<Metrics, "writeBackEnded">): Runs {
  return {
    async run(pending, signal) {
      const started = performance.now();
      try {
        const end = await writeBack.run(pending, signal);
        if (end === "done") metrics.writeBackEnded({ outcome: "done", ms: performance.now() - started });
        return end;
      } catch (error) {
        const code = codeOf(error);
        if (!isBrokenOff(signal)) metrics.writeBackEnded({ outcome: code === OUT_OF_TOKENS ? "waiting" : "failed", code });
        throw error;
      }
    },
    async fail(pending, error) {
      metrics.writeBackEnded({ outcome: "given_up", code: codeOf(error) });
      await writeBack.fail(pending, error);
    },
  };
}

function codeOf(error: unknown) {
  return isAppError(error) ? error.code : "INTERNAL";
}

/** A time that is up aborts the signal too, with a reason of its own. */
function isBrokenOff({ aborted, reason }: AbortSignal): boolean {
  return aborted && !(reason instanceof Error && reason.name === "TimeoutError");
}
