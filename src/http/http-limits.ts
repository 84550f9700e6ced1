/** Bounds of streams. */
export interface HttpLimits {
  /** Streams that one user may have open. Default 8. */
  readonly streamsPerUser?: number;
  /** Bytes of events that wait for a slow reader. Default 65,536. */
  readonly streamBufferBytes?: number;
  /** Default 15,000. */
  readonly heartbeatMs?: number;
  /** A reader that takes nothing for this long has gone away. Default 30,000. */
  readonly stalledReaderMs?: number;
}
