import { replyTo } from "../faults/rig.js";
import type { InstalledPackage } from "../packaging/install.js";
import { OpenAIStub } from "../support/openai-stub.js";
import { openQdrantHttp } from "../support/qdrant-http.js";
import { Cluster } from "./cluster.js";
import type { EngineServer } from "./engines.js";

/** What a story of replicas has to do with. */
export interface StubbedCluster {
  readonly cluster: Cluster;
  readonly openai: OpenAIStub;
  readonly engine: EngineServer;
}

/** A cluster of none yet, on an engine of its own, beside a model that replies at once, and a stand-in for Qdrant where none is named. */
export async function withStubbedCluster(
  installed: InstalledPackage,
  open: () => Promise<EngineServer>,
  variables: Readonly<Record<string, string>>,
  story: (world: StubbedCluster) => Promise<void>,
): Promise<void> {
  const engine = await open();
  const qdrant = variables.QDRANT_URL === undefined ? await openQdrantHttp() : null;
  const openai = (await OpenAIStub.open({ dimension: 64 })).chatOtherwise(replyTo);
  const cluster = new Cluster(installed, {
    ...engine.variables,
    ...(qdrant !== null && { QDRANT_URL: qdrant.url }),
    OPENAI_BASE_URL: openai.url,
    OPENAI_API_KEY: "test",
    MEMORY_EMBEDDING_MODEL: "stub",
    MEMORY_EMBEDDING_DIMENSIONALITY: "64",
    LOG_LEVEL: "error",
    ...variables,
  });
  try {
    await story({ cluster, openai, engine });
  } finally {
    await cluster.stop();
    await openai.close();
    await qdrant?.close();
    await engine.close();
  }
}
