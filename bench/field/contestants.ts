import type { Workload } from "./contestant.js";

/** Who takes part, and where it is described: each is loaded alone, by the Node that it needs. */
export interface Entrant {
  readonly name: string;
  readonly module: string;
  /** Whose versions are told. */
  readonly packages: readonly string[];
  /** The least major version of Node that its packages ask for. Default: this project's. */
  readonly node?: number;
  readonly workloads: readonly Workload[];
}

/** Ours is the first. */
export const ENTRANTS: readonly Entrant[] = [
  {
    name: "Maitred",
    module: "maitred",
    packages: [],
    workloads: ["window", "append", "recall", "recallAmongMany", "history", "turn", "turnWithMemory"],
  },
  { name: "Mem0", module: "mem0", packages: ["mem0ai"], workloads: ["recall", "recallAmongMany", "turnWithMemory"] },
  {
    name: "Mastra",
    module: "mastra",
    packages: ["@mastra/core", "@mastra/memory", "@mastra/libsql"],
    node: 22,
    workloads: ["window", "append", "recall", "recallAmongMany", "history", "turn", "turnWithMemory"],
  },
  {
    name: "LangGraph",
    module: "langgraph",
    packages: ["@langchain/langgraph", "@langchain/langgraph-checkpoint-sqlite"],
    workloads: ["window", "append", "recall", "recallAmongMany", "turn", "turnWithMemory"],
  },
  { name: "OpenAI Agents", module: "openai-agents", packages: ["@openai/agents"], workloads: ["window", "append", "turn"] },
  {
    name: "LangChain file history",
    module: "langchain-file",
    packages: ["@langchain/community", "@langchain/core"],
    workloads: ["window", "append", "turn"],
  },
];
