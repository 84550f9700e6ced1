import { ConversationLog } from "../../src/conversation-log.js";
import { VectorHistory } from "../../src/history/vector-history.js";
import { HashingEmbedder } from "../../src/offline/hashing-embedder.js";
import { ownerOf } from "../../src/owner.js";
import { systemClock } from "../../src/platform/clock.js";
import { silentLogger } from "../../src/platform/logger.js";
import { SessionWriter } from "../../src/session-writer.js";
import { openMemorySessionStore } from "../../src/short-term/in-memory.js";
import { openLocalQdrant } from "../../src/vectors/local-qdrant.js";
import { documentVector, queryVector } from "../../src/vectors/sparse.js";

/** A conversation log over real stores that are gone with the test. */
export async function openLog() {
  const store = await openMemorySessionStore();
  const vectors = await openLocalQdrant({ path: ":memory:" });
  const history = await VectorHistory.open({
    store: vectors,
    embedder: new HashingEmbedder({ dimension: 64 }),
    sparse: { documentVector, queryVector },
  });
  const writer = new SessionWriter(store, { onLag: () => {}, logger: silentLogger });
  return {
    log: new ConversationLog({ store, writer, history, clock: systemClock }),
    store,
    history,
    owner: (app: string, user: string) => ownerOf(`adk.${app}`, user),
    close: async () => {
      await vectors.close();
      await store.close();
    },
  };
}
