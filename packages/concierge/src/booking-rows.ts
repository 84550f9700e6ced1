import { z } from "zod";

/** Quotes and bookings as they are kept. Money is in cents of a euro; times are ISO 8601 UTC. */

/** Why a quote was stopped: what it would break, by memory id, or that it could not be read; and the token that stands for it. */
type Stop = { readonly unchecked: boolean; readonly memoryIds: readonly string[]; readonly token: string } | null;

/** A memory that this booking passes over on the guest's word. `memory_id` is null where nothing could be read. */
export const waiverSchema = z.object({
  memory_id: z.string().max(64).nullable(),
  /** `override`: it would break it. `mentioned`: the catalogue can't answer it, and the guest was told. */
  how: z.enum(["override", "mentioned"]),
  at: z.iso.datetime({ offset: true }),
});
export type Waiver = z.infer<typeof waiverSchema>;
const waivers = z.array(waiverSchema);

export interface Quote {
  readonly id: string;
  readonly sessionId: string;
  /** In which it was shown last: only a later turn can confirm it. */
  readonly turn: number;
  readonly eventId: string;
  readonly title: string;
  readonly venue: string;
  readonly city: string;
  readonly startsAt: string;
  readonly section: string;
  readonly quantity: number;
  readonly totalCents: number;
  readonly companions: readonly string[];
  readonly stop: Stop;
  /** Those who the guest said don't come. */
  readonly absent: readonly string[];
  /** Memories that the guest was told of with it, and that stop nothing. */
  readonly mentioned: readonly string[];
  /** What the guest passed over when it was booked. */
  readonly waived: readonly Waiver[];
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly bookingId: string | null;
}

const names = z.array(z.string());

export const bookingSchema = z.object({
  id: z.string().min(1).max(64),
  /** Null on sales that were made anonymous. */
  reference: z.string().max(32).nullable(),
  eventId: z.string().max(200),
  title: z.string().max(200),
  venue: z.string().max(200),
  city: z.string().max(100),
  startsAt: z.iso.datetime({ offset: true }),
  section: z.string().max(100),
  quantity: z.number().int().positive().max(1000),
  totalCents: z.number().int().nonnegative(),
  companions: names.readonly(),
  // Absent in bookings of before.
  waived: waivers.readonly().default([]),
  status: z.enum(["confirmed", "cancelled"]),
  createdAt: z.iso.datetime({ offset: true }),
  cancelledAt: z.iso.datetime({ offset: true }).nullable(),
});
export type Booking = Readonly<z.infer<typeof bookingSchema>>;

/** What a sale keeps that is anonymous. */
export interface SoldRow {
  readonly event_id: string;
  readonly section: string;
  readonly quantity: number;
  readonly status: Booking["status"];
}

/** Whether a booking of an export is this sale, which may have become anonymous since. */
export function isSameSale(row: SoldRow, { eventId, section, quantity, status }: Booking): boolean {
  return row.event_id === eventId && row.section === section && row.quantity === quantity && row.status === status;
}
