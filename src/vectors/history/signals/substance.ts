import type { Candidate } from "../candidate.js";
import { termCount } from "../term-code.js";

/** Terms from which on a message says enough to answer by itself. */
const ENOUGH_TERMS = 25;

/**
 * How much each message says by itself, 0 to 1, by the number of its different terms: what is short ("yes, totally!") lives of its
 * neighbours' words, and seldom answers.
 * Source: document length as a prior of relevance, Kraaij, Westerveld and Hiemstra, SIGIR 2002.
 */
export function substance({ terms }: Candidate): number {
  return Math.min(1, termCount(terms) / ENOUGH_TERMS);
}
