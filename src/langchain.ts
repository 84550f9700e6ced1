export type { KnownOfUser } from "./integrations/known-of-user.js";
export * from "./integrations/langchain.js";
export * from "./integrations/langgraph-store.js";
