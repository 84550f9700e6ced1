import { ownerOf } from "../../src/domain/owner.js";
import { HashingEmbedder } from "../../src/embedding/hashing-embedder.js";
import { documentVector, queryVector } from "../../src/embedding/sparse-vectors.js";
import { systemClock } from "../../src/platform/clock.js";
import { silentLogger } from "../../src/platform/logger.js";
import { ConversationLog } from "../../src/sessions/conversation-log.js";
import { VectorHistory } from "../../src/vectors/history/vector-history.js";
import { openLocalQdrant } from "../../src/vectors/local/local-qdrant.js";
import { makeWorld } from "./session-world.js";

/** A conversation log over real stores that are gone with the test. Long-term memory is off. */
export async function openLog() {
  const vectors = await openLocalQdrant({ path: ":memory:" });
  const history = await VectorHistory.open({
    store: vectors,
    embedder: new HashingEmbedder({ dimension: 64 }),
    sparse: { documentVector, queryVector },
  });
  const { store, writer, sessions, registry } = await makeWorld({ history });
  return {
    log: new ConversationLog({
      store,
      writer,
      history,
      sessions,
      turns: null,
      gate: registry,
      writeBack: { hold: async () => () => {} },
      afterAppend: () => {},
      clock: systemClock,
      logger: silentLogger,
    }),
    store,
    writer,
    history,
    owner: (app: string, user: string) => ownerOf(`adk.${app}`, user),
    close: async () => {
      await vectors.close();
      await store.close();
    },
  };
}
