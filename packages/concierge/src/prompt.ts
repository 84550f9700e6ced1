import { readFileSync } from "node:fs";

/** The concierge's system prompt: the same bytes for every guest and every day. */
export const CONCIERGE_PROMPT = readFileSync(new URL("./prompt.txt", import.meta.url), "utf8").trim();
