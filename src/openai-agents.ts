export type { OfThread } from "./integrations/of-user.js";
export * from "./integrations/openai-agents.js";
