import type { StoredEntry } from "maitred";

/** What is kept of an event: seats that are sold, by section, and sales that are unsettled, by the booking's key. */
export interface EventSeats {
  readonly sold: Map<string, number>;
  /** `atMs`: since when, by the engine's clock. `quoteId`: of which the booking is to be made; null where it was made before. */
  readonly unsettled: Map<string, { readonly atMs: number; readonly quoteId: string | null }>;
}

/** Of a booking: what the house must know, also after an erasure. */
export interface Sale {
  readonly section: string;
  readonly quantity: number;
  /** The owner's partition; null: made anonymous. */
  readonly holder: string | null;
  readonly status: "confirmed" | "cancelled";
  /** A booking that a file brought holds no seats. */
  readonly seated: boolean;
}

interface StoredEvent {
  readonly v: 1;
  readonly sold: readonly (readonly [string, number])[];
  readonly unsettled: readonly (readonly [string, { readonly atMs: number; readonly quoteId: string | null }])[];
}

export function seatsIn(entry: StoredEntry | undefined): EventSeats {
  if (entry === undefined) return { sold: new Map(), unsettled: new Map() };
  const { sold, unsettled } = JSON.parse(entry.value) as StoredEvent;
  return { sold: new Map(sold), unsettled: new Map(unsettled) };
}

export function eventValue({ sold, unsettled }: EventSeats): string {
  return JSON.stringify({ v: 1, sold: [...sold], unsettled: [...unsettled] } satisfies StoredEvent);
}
