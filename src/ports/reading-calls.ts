/** What the reading of messages has cost so far, for all processes: of those alone that a model has read in vain. */
export interface ReadingCalls {
  /** Answers that may still be asked for; null where none was in vain. @throws STORAGE_UNAVAILABLE */
  left(messageId: string): Promise<number | null>;
  /** Durable on resolve. @throws STORAGE_UNAVAILABLE */
  keep(messageId: string, left: number): Promise<void>;
  /** It is read, or given up. */
  forget(messageId: string): Promise<void>;
}
