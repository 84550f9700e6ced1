/** Comparing what is searched for with what is there, as a reader would: case and accents don't count. */

function folded(text) {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

/** Whether the text holds every word of the query, or the beginning of one. */
export function holdsWords(text, query) {
  const words = folded(query).match(/[\p{L}\p{N}]+/gu) ?? [];
  const within = folded(text);
  return words.length > 0 && words.every((word) => within.includes(word));
}
