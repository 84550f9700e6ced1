import type { JournalRecord } from "../../domain/session.js";

/**
 * A rewind restores the conversation as it was right after record `to_seq`: an undo, also of earlier rewinds.
 * What it takes back are messages, steps and summaries; patches of the session and write-back records are not
 * part of the conversation and stay.
 */
export interface RewindMark {
  readonly seq: number;
  readonly toSeq: number;
}

const CONVERSATION: ReadonlySet<string> = new Set(["message", "step", "summary"]);

/** Seqs, first and last, between which no part of the conversation stands, given all rewinds of the journal in seq order. */
export function rewoundGaps(rewinds: readonly RewindMark[]): readonly { readonly from: number; readonly to: number }[] {
  const gaps: { from: number; to: number }[] = [];
  let upTo = Number.POSITIVE_INFINITY;
  for (const rewind of rewinds.toReversed()) {
    if (rewind.seq > upTo) continue;
    gaps.unshift({ from: rewind.toSeq + 1, to: rewind.seq });
    upTo = rewind.toSeq;
  }
  return gaps;
}

/** Whether a record still stands, given all rewinds of the journal in seq order. */
export function standing(rewinds: readonly RewindMark[]): (record: { readonly seq: number; readonly type: string }) => boolean {
  const gaps = rewoundGaps(rewinds);
  return ({ seq, type }) => !CONVERSATION.has(type) || !within(gaps, seq);
}

/** Of records that come newest first, those that lie in no gap between a rewind and where it goes back to. */
export async function* outsideRewinds(records: Iterable<JournalRecord> | AsyncIterable<JournalRecord>): AsyncGenerator<JournalRecord> {
  let upTo = Number.POSITIVE_INFINITY;
  for await (const record of records) {
    if (record.seq > upTo) continue;
    if (record.type === "rewind") upTo = record.body.to_seq;
    yield record;
  }
}

function within(gaps: readonly { from: number; to: number }[], seq: number): boolean {
  let low = 0;
  let high = gaps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const gap = gaps[middle];
    if (gap === undefined || gap.from > seq) high = middle;
    else low = middle + 1;
  }
  const candidate = gaps[low - 1];
  return candidate !== undefined && seq <= candidate.to;
}
