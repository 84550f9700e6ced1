export * from "./integrations/adk.js";
