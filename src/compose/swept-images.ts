import type { StateEngine } from "../state/engine.js";
import type { EngineImageStore } from "../state/images/images.js";
import { ownersOf } from "../state/sessions/owners.js";
import type { Wiring } from "./wiring.js";

/** Images whose message never came, as its process was killed, go in the background. `hasJournal`: as {@link EngineImageStore.sweep}. */
export function sweepImages(
  engine: StateEngine,
  images: EngineImageStore,
  { logger, closing }: Wiring,
  hasJournal?: (sessionId: string) => Promise<boolean>,
): void {
  const stop = closing(new AbortController(), (it) => it.abort());
  const sweep = async () => {
    let swept = 0;
    for await (const owner of ownersOf(engine)) {
      if (stop.signal.aborted) return;
      swept += await images.sweep(owner, hasJournal);
    }
    if (swept > 0) logger.info({ images: swept }, "Images that no message came to have were deleted");
  };
  sweep().catch((error: unknown) => {
    if (!stop.signal.aborted) logger.warn({ err: error }, "Images that no message came to have could not be looked for");
  });
}
