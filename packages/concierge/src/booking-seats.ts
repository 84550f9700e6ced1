import type { PartitionRead, StateEngine } from "maitred";
import { committed, MaitredError } from "maitred/domain";
import { kept, untilKept } from "./booking-commits.js";
import { bookingIn } from "./booking-entries.js";
import { bookingKeyOf, eventKey, idKey, quoteKey, saleKey, seatsPartition } from "./booking-keys.js";
import { type Booking, isSameSale } from "./booking-rows.js";
import { NO_SUCH_BOOKING, seatsKey, seatsMissing } from "./booking-store.js";
import { type EventSeats, eventValue, type Sale, seatsIn } from "./event-seats.js";

/** How long a sale counts whose booking was not heard of; after that its owner's partition is looked at. By the engine's clock. */
const UNSETTLED_MS = 10 * 60_000;

type SaleId = Pick<Booking, "id" | "eventId">;

interface Seen {
  readonly event: EventSeats;
  readonly sale: Sale | null;
  readonly nowMs: number;
  readonly checks: readonly { readonly key: string; readonly version: number | null }[];
}

/**
 * Seats of all events, shared by all owners. A sale is unsettled from before its booking is made, or cancelled, in the owner's partition
 * until after it: whoever is short of seats then looks there, once its time is up, and keeps the sale or gives the seats back.
 */
export class BookingSeats {
  readonly #engine: StateEngine;

  constructor(engine: StateEngine) {
    this.#engine = engine;
  }

  /** By {@link seatsKey}. */
  async sold(eventIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const first = await this.#events(eventIds);
    const late = first.filter(({ event, nowMs }) => overdue(event, nowMs).length > 0);
    for (const { eventId, event, nowMs } of late) await this.#settleOverdue(eventId, event, nowMs);
    const events = late.length === 0 ? first : await this.#events(eventIds);
    return new Map(
      events.flatMap(({ eventId, event }) =>
        [...event.sold].filter(([, sold]) => sold > 0).map(([section, sold]) => [seatsKey(eventId, section), sold] as const),
      ),
    );
  }

  /**
   * Takes seats for a booking that is yet to be made of the quote; again: they are the holder's for longer. `places`: to be sold here at
   * all. @throws NOT_FOUND when fewer are left, or when the sale is another's
   */
  async sell(
    id: SaleId,
    { section, quantity, holder, quoteId }: { section: string; quantity: number; holder: string; quoteId: string },
    places: number,
  ): Promise<void> {
    const key = idKey(id.id);
    await untilKept(async () => {
      const { event, sale, nowMs, checks } = await this.#look(id.eventId, key);
      if (sale === null) {
        const left = places - (event.sold.get(section) ?? 0);
        if (left < quantity) {
          if (await this.#settleOverdue(id.eventId, event, nowMs)) return null;
          throw new MaitredError("NOT_FOUND", seatsMissing(left));
        }
        take(event, section, quantity);
      } else {
        const whose = await this.#whose(sale, key, holder, quoteId);
        if (whose === "busy") return null;
        if (whose !== "none") throw new MaitredError("NOT_FOUND", NO_SUCH_BOOKING);
      }
      event.unsettled.set(key, { atMs: nowMs, quoteId });
      const sold: Sale = sale === null ? { section, quantity, holder, status: "confirmed", seated: true } : { ...sale, holder };
      return this.#keep(id.eventId, key, { event, sale: sold, checks });
    });
  }

  /** From now on the owner's partition decides, if nothing is heard before. */
  async unsettle({ eventId, id }: SaleId): Promise<void> {
    const key = idKey(id);
    await untilKept(async () => {
      const { event, sale, nowMs, checks } = await this.#look(eventId, key);
      if (sale === null) return true;
      event.unsettled.set(key, { atMs: nowMs, quoteId: event.unsettled.get(key)?.quoteId ?? null });
      return this.#keep(eventId, key, { event, sale, checks });
    });
  }

  /**
   * The sale is as the booking is: whether it holds seats, and whose it is (default: as before). `formerly`: only where it is theirs, or
   * nobody's; answers whether it was. What was cancelled stays so. Again: without effect.
   */
  settle({ eventId, id }: SaleId, to: Pick<Sale, "status"> & Partial<Sale>, formerly?: string): Promise<boolean> {
    const key = idKey(id);
    return untilKept(async () => {
      const { event, sale, checks } = await this.#look(eventId, key);
      if (sale === null) return { mine: true };
      if (formerly !== undefined && sale.holder !== null && sale.holder !== formerly) return { mine: false };
      const cancels = sale.status === "confirmed" && to.status === "cancelled";
      const marked = event.unsettled.delete(key);
      const { holder = sale.holder } = to;
      if (!cancels && !marked && sale.holder === holder) return { mine: true };
      if (cancels && sale.seated) take(event, sale.section, -sale.quantity);
      const settled: Sale = { ...sale, holder, status: cancels ? "cancelled" : sale.status };
      return (await this.#keep(eventId, key, { event, sale: settled, checks })) && { mine: true };
    }).then(({ mine }) => mine);
  }

  /** An unsettled sale of the holder is settled as their partition has it now: kept, cancelled, or gone with its seats. */
  async resolve({ eventId, id }: SaleId, holder: string): Promise<void> {
    await untilKept(async () => {
      const key = idKey(id);
      const seen = await this.#look(eventId, key);
      if (seen.sale?.holder !== holder || !seen.event.unsettled.has(key)) return true;
      return this.#resolveSeen(eventId, key, seen);
    });
  }

  /** A booking of an export is the holder's: the sale that is there, made anonymous, or one without seats. False where it may not be. */
  claim(booking: Booking, holder: string): Promise<boolean> {
    const { eventId, section, quantity, status } = booking;
    const key = idKey(booking.id);
    return untilKept(async () => {
      const { event, sale, checks } = await this.#look(eventId, key);
      if (sale === null) {
        const unseated: Sale = { section, quantity, holder, status, seated: false };
        return (await this.#keep(eventId, key, { event, sale: unseated, checks })) && { claimed: true };
      }
      if ((sale.holder !== null && sale.holder !== holder) || !isSameSale({ ...sale, event_id: eventId }, booking))
        return { claimed: false };
      return (await this.#keep(eventId, key, { event, sale: { ...sale, holder }, checks })) && { claimed: true };
    }).then(({ claimed }) => claimed);
  }

  /** `none`: the sale that is there is that of a booking yet to be made, the holder's own or of one who has none. */
  async #whose(sale: Sale, key: string, holder: string, quoteId: string): Promise<Booking["status"] | "none" | "busy" | "nobody's"> {
    if (sale.holder === null || sale.status !== "confirmed" || !sale.seated) return "nobody's";
    return sale.holder === holder ? "none" : this.#bookingOf(sale.holder, key, quoteId);
  }

  /** Answers whether there was anything to settle: seats are to be looked at anew then. */
  async #settleOverdue(eventId: string, event: EventSeats, nowMs: number): Promise<boolean> {
    const keys = overdue(event, nowMs);
    for (const key of keys) {
      const seen = await this.#look(eventId, key);
      if (overdue(seen.event, seen.nowMs).includes(key)) await this.#resolveSeen(eventId, key, seen);
    }
    return keys.length > 0;
  }

  async #resolveSeen(eventId: string, key: string, { event, sale, checks }: Seen): Promise<true | null> {
    const quoteId = event.unsettled.get(key)?.quoteId ?? null;
    const status = sale === null || sale.holder === null ? "nobody's" : await this.#bookingOf(sale.holder, key, quoteId);
    if (status === "busy") return null;
    event.unsettled.delete(key);
    const gone = status === "none" && quoteId !== null;
    if (sale?.seated && sale.status === "confirmed" && (gone || status === "cancelled")) take(event, sale.section, -sale.quantity);
    const settled = sale === null || gone ? null : { ...sale, status: status === "cancelled" ? status : sale.status };
    return this.#keep(eventId, key, { event, sale: settled, checks });
  }

  /**
   * The booking's status in its owner's partition. `none`: there is none, and none will be made of the quote by who read it before now, as
   * its version is another. `busy`: somebody is changing it.
   */
  async #bookingOf(holder: string, key: string, quoteId: string | null): Promise<Booking["status"] | "none" | "busy"> {
    const booking = bookingKeyOf(key);
    const quote = quoteId === null ? [] : [quoteKey(quoteId)];
    const { entries, epoch } = await this.#engine.read(holder, { keys: [booking, ...quote] });
    const found = entries.get(booking);
    if (found !== undefined) return bookingIn(found).booking.status;
    const open = entries.get(quote[0] ?? "");
    if (open === undefined) return "none";
    const checks = [
      { key: open.key, version: open.version },
      { key: booking, version: null },
    ];
    const { ok } = await committed(this.#engine, holder, { epoch, checks, puts: [{ key: open.key, value: open.value }] });
    return ok ? "none" : "busy";
  }

  async #look(eventId: string, key: string): Promise<Seen> {
    const keys = [eventKey(eventId), saleKey(eventId, key)] as const;
    const read = await this.#engine.read(seatsPartition(eventId), { keys });
    const sale = read.entries.get(keys[1]);
    return {
      event: seatsIn(read.entries.get(keys[0])),
      sale: sale === undefined ? null : (JSON.parse(sale.value) as Sale),
      nowMs: read.nowMs,
      checks: keys.map((each) => ({ key: each, version: read.entries.get(each)?.version ?? null })),
    };
  }

  /** True, or null where somebody was faster. */
  async #keep(eventId: string, key: string, { event, sale, checks }: Omit<Seen, "nowMs">): Promise<true | null> {
    const puts = [{ key: eventKey(eventId), value: eventValue(event) }];
    const at = saleKey(eventId, key);
    const commit =
      sale === null ? { checks, puts, deletes: [at] } : { checks, puts: [...puts, { key: at, value: JSON.stringify({ v: 1, ...sale }) }] };
    return (await kept(this.#engine, seatsPartition(eventId), commit)) || null;
  }

  /** One read for all events of a partition. */
  async #events(eventIds: readonly string[]) {
    const byPartition = new Map<string, string[]>();
    for (const eventId of eventIds) {
      const partition = seatsPartition(eventId);
      byPartition.set(partition, [...(byPartition.get(partition) ?? []), eventId]);
    }
    const reads = [...byPartition].map(async ([partition, ids]) => {
      const read = await this.#engine.read(partition, { keys: ids.map(eventKey) });
      return ids.flatMap((eventId) => eventsIn(read, eventId));
    });
    return (await Promise.all(reads)).flat();
  }
}

function eventsIn({ entries, nowMs }: PartitionRead, eventId: string) {
  const entry = entries.get(eventKey(eventId));
  return entry === undefined ? [] : [{ eventId, event: seatsIn(entry), nowMs }];
}

function overdue({ unsettled }: EventSeats, nowMs: number): readonly string[] {
  return [...unsettled].filter(([, { atMs }]) => atMs + UNSETTLED_MS <= nowMs).map(([key]) => key);
}

function take(event: EventSeats, section: string, quantity: number): void {
  event.sold.set(section, (event.sold.get(section) ?? 0) + quantity);
}
