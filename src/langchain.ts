export * from "./integrations/langchain.js";
export * from "./integrations/langgraph-store.js";
export type { OfThread } from "./integrations/of-user.js";
