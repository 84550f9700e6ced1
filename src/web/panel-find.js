import { state } from "./bus.js";
import { memoryApi } from "./memory-api.js";
import { holdsWords } from "./words.js";

/** From which score on a memory is near in meaning; scores of an embedder that compares words are lower. */
const NEAR = 0.35;
const NEAR_BY_WORDS = 0.15;

const searched = ({ text, category, subject, entities }) => [text, category, subject, ...entities].join(" ");

/** Those of the given memories that fit: they hold the words, or are near in meaning. Best first; none rather than the least bad. */
export async function fitting(query, memories) {
  const near = state.me.server.embedder.lexical ? NEAR_BY_WORDS : NEAR;
  const scores = new Map((await memoryApi.search(query)).map(({ id, score }) => [id, score]));
  const found = memories.map((memory) => ({ memory, score: scores.get(memory.id) ?? 0, held: holdsWords(searched(memory), query) }));
  return found
    .filter(({ held, score }) => held || score >= near)
    .sort((a, b) => b.held - a.held || b.score - a.score)
    .map(({ memory }) => memory);
}
