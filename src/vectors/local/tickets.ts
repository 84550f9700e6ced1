import { TICKET } from "./local-protocol.js";

/** Calls that can be given up at a time; what is called beside them is waited for. */
const MOST = 16_384;

/** A number for each call that is under way, shared with the thread that answers it, by which a call is given up before it begins. */
export class Tickets {
  readonly shared = new Int32Array(new SharedArrayBuffer(MOST * Int32Array.BYTES_PER_ELEMENT));
  readonly #free: number[] = [];
  #used = 0;

  /** Null where all are taken. */
  take(): number | null {
    const ticket = this.#free.pop() ?? (this.#used < MOST ? this.#used++ : null);
    if (ticket !== null) Atomics.store(this.shared, ticket, TICKET.WAITING);
    return ticket;
  }

  /** Has the thread pass the call over, unless it has begun. */
  giveUp(ticket: number): void {
    Atomics.compareExchange(this.shared, ticket, TICKET.WAITING, TICKET.GIVEN_UP);
  }

  /** To be called when the thread has told what became of the call. */
  free(ticket: number): void {
    this.#free.push(ticket);
  }
}
