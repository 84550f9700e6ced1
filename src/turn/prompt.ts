import { readFileSync } from "node:fs";

/** What every prompt, a domain's or a caller's, is followed by: how to treat what is put into the context. Stable, for the cache's sake. */
const RULES = readFileSync(new URL("./prompt.txt", import.meta.url), "utf8").trim();

/** The one system message of every turn. */
export function systemPrompt(prompt: string): string {
  return `${prompt}\n\n${RULES}`;
}
