import { CatchingUp } from "../operations/catching-up.js";
import type { SessionStore } from "../ports/session-store.js";
import { IndexedSessionWriter, LaggingSessions } from "../state/jsonl/session-writer.js";
import type { Stores } from "./stores.js";
import type { Wiring } from "./wiring.js";

/** Of a store whose index is written after the journal: who writes both, and what brings an index level that is behind. */
export async function openFollowingIndex(
  { logger, closing }: Wiring,
  store: SessionStore,
  {
    onLevel,
    catchUp,
    rebuild,
  }: {
    readonly onLevel: () => void;
    readonly catchUp: () => Promise<unknown>;
    readonly rebuild: Stores["rebuildIndex"];
  },
): Promise<Pick<Stores, "writer" | "lagging" | "indexCatchUp" | "rebuildIndex">> {
  const indexCatchUp = new CatchingUp("index", catchUp, logger);
  await indexCatchUp.run();
  const lagging = closing(new LaggingSessions(store, { onLevel, logger }), (it) => it.close());
  return {
    writer: new IndexedSessionWriter(store, { onLag: (owner, id) => lagging.add(owner, id), logger }),
    lagging,
    indexCatchUp,
    rebuildIndex: rebuild,
  };
}
