import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Owner, ownerOf } from "../../src/domain/owner.js";
import { documentVector, queryVector } from "../../src/embedding/sparse-vectors.js";
import { ImportService } from "../../src/import/import.js";
import { DisabledMemories } from "../../src/memories/disabled-memories.js";
import { systemClock } from "../../src/platform/clock.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { Embedder } from "../../src/ports/embedding.js";
import type { VectorStore } from "../../src/ports/vectors.js";
import { IndexedSessionWriter } from "../../src/state/jsonl/session-writer.js";
import type { Candidate } from "../../src/vectors/history/candidate.js";
import { CandidateSearch } from "../../src/vectors/history/candidate-search.js";
import { VectorHistory } from "../../src/vectors/history/vector-history.js";
import type { RankingWeights } from "../../src/vectors/history/weights.js";
import { openLocalQdrant } from "../../src/vectors/local/local-qdrant.js";
import { InMemoryOwnerLedger, memorySessionStore } from "../../test/support/memory-stores.js";
import { type Conversation, importLines } from "./dataset.js";

const sparse = { documentVector, queryVector };

/** History on a local store in a directory of its own, filled through the import, as a user would. */
export interface Fixture {
  readonly store: VectorStore;
  readonly history: VectorHistory;
  withWeights(weights: RankingWeights): Promise<VectorHistory>;
  /** Ids of messages by their dense vectors alone, best first. */
  denseAlone(owner: Owner, question: string): Promise<string[]>;
  /** What a search ranks. */
  candidatesFor(owner: Owner, question: string): Promise<readonly Candidate[]>;
  import(owner: Owner, conversation: Conversation): Promise<void>;
  /** Bytes of the vector store on disk. */
  indexBytes(): Promise<number>;
  close(): Promise<void>;
}

export function ownerOfConversation({ conversation }: Conversation): Owner {
  return ownerOf("bench", conversation.replace(/\s+/gu, "-"));
}

/** @param cacheBytes of vectors in memory, as `VECTOR_CACHE_MIB` has it */
export async function openFixture(embedder: Embedder, cacheBytes: number): Promise<Fixture> {
  const dir = await mkdtemp(join(tmpdir(), "maitred-bench-"));
  const store = await openLocalQdrant({ path: join(dir, "vectors.db"), cacheBytes });
  const sessions = memorySessionStore();
  const history = await VectorHistory.open({ store, embedder, sparse });
  const candidates = new CandidateSearch({ client: store.client, collection: "history", embedder, logger: silentLogger });
  const imports = new ImportService({
    store: sessions,
    writer: new IndexedSessionWriter(sessions, { onLag: () => {}, logger: silentLogger }),
    history,
    clock: systemClock,
    gate: { begin: () => ({ signal: new AbortController().signal, end: () => {} }) },
    promote: null,
    restore: { longTerm: new DisabledMemories(), ledger: new InMemoryOwnerLedger(), records: null },
    lockWaitMs: 10_000,
  });
  return {
    store,
    history,
    withWeights: (weights) => VectorHistory.open({ store, embedder, sparse, weights }),
    denseAlone: async (owner, question) => {
      const [vector] = await embedder.embed([question]);
      const { points } = await store.client.query("history", {
        query: Array.from(vector ?? []),
        filter: { must: [{ key: "user_id", match: { value: owner } }] },
        limit: 200,
        with_payload: ["external_id"],
      });
      return points.map(({ payload }) => String(payload?.external_id));
    },
    candidatesFor: (owner, question) => candidates.run(owner, { query: question }, queryVector(question)),
    import: async (owner, conversation) => {
      await imports.import(owner, importLines(conversation), { format: "ndjson", extract: false });
    },
    indexBytes: async () => (await stat(join(dir, "vectors.db"))).size,
    close: async () => {
      await store.close();
      await sessions.close();
      await rm(dir, { recursive: true });
    },
  };
}
