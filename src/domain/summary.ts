/**
 * False when something was forgotten after the summary was written: it may still tell it, and is not to be shown to a model until
 * it has been written anew.
 */
export function isCurrent(summary: { readonly at: string } | null, tombstones: readonly { readonly at: string }[]): boolean {
  return summary !== null && !tombstones.some((tombstone) => tombstone.at >= summary.at);
}
