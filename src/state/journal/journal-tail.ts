/** What an append must know of all that went before it. */
export interface JournalTail {
  readonly lastSeq: number;
  readonly lastTurn: number;
  /** Byte offset of the newest summary that stands, or null. */
  readonly summaryAt: number | null;
  /** Byte offset of the newest rewind, whether or not a later one took it back; null: there is none. Undefined: the lines don't say. */
  readonly rewindAt: number | null | undefined;
}
