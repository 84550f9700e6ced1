export * from "./integrations/adk.js";
export type { KnownOfUser } from "./integrations/known-of-user.js";
