/**
 * What a call of a tool is called where a model is shown it: shorter than a provider's own, by up to thirty tokens for the call and its
 * result, and the same in its turn as in later ones. `place`: among the turn's calls, from 0.
 */
export function shortCallId(turn: number, place: number): string {
  return `c${turn}_${place + 1}`;
}
