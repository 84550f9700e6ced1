import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { Fields } from "./api-types.js";
import { type CalendarBooking, calendarFile } from "./calendar-file.js";
import { Button, saveFile } from "./controls.js";
import type { ShownElement } from "./conversation.js";
import { isOver, joined, tileOf } from "./format.js";
import { tell } from "./state.js";
import { Isolated, KnownFacts, Said, SayButton, Toggle, useFocus } from "./ui.js";

/** What is offered, as a summary to confirm or to change; what is booked, as a ticket, with what can be done about it. */

const MOST_SEATS = 20;

/** A field as text; empty where there is none. */
export const said = (value: unknown): string => (value === undefined || value === null || value === false ? "" : String(value));
export const titleOf = ({ name, data }: ShownElement) => said(data?.title) || name;
export const seatsIn = (count: unknown) => `${count} ${count === 1 ? "seat" : "seats"}`;
const seatsOf = ({ quantity, section }: Fields) => (quantity === undefined ? "" : joined([seatsIn(quantity), section]));
export const whereOf = ({ venue, city }: Fields) => joined([venue, city]);
const companionsOf = ({ companions }: Fields) => (Array.isArray(companions) ? joined(companions) : "");

export function quoteIn(data: Fields | null): string {
  const { quote } = (data?.source ?? {}) as { readonly quote?: unknown };
  return quote ? `You said: “${quote}”` : "";
}

export function DateTile({ of: { date, day } }: { readonly of: Fields }) {
  const tile = tileOf(date);
  return (
    <div class="tile" aria-hidden="true">
      <span>{tile === null ? said(day) : tile.weekday}</span>
      {tile && <b>{tile.day}</b>}
      {tile && <span>{tile.month}</span>}
    </div>
  );
}

export type CardProps = Readonly<{ of: ShownElement; data: Fields }>;

/** What an answer showed before it is done, in any domain: one line, what stands against it, and the button that is the guest's word. */
export function Approval({ data, isOpen }: { readonly data: Fields; readonly isOpen: boolean }) {
  const conflicts = Array.isArray(data.conflicts) ? data.conflicts.map(String) : [];
  const stopped = conflicts.length > 0;
  const [label, words] = stopped ? ["Do it anyway", "Do it anyway, please."] : ["Confirm", "Yes, please."];
  const question = said(data.question) || said(data.tool);
  return (
    <section class={stopped ? "card quote stopped" : "card quote"} aria-label={question}>
      <p class="eyebrow">{stopped ? "Not done" : "Ready to do"}</p>
      <h3 dir="auto">{question}</h3>
      {conflicts.map((line) => (
        <Said as="p" key={line} class="against" of={`✗ ${line}`} />
      ))}
      {isOpen && typeof data.token === "string" && (
        <div class="offer">
          <div class="row">
            <SayButton
              label={label}
              class={stopped ? "secondary" : "primary"}
              aria-label={`${label}: ${question}`}
              words={words}
              more={{ consent: data.token }}
            />
          </div>
        </div>
      )}
    </section>
  );
}

interface QuoteProps extends CardProps {
  /** What stands against it. */
  readonly against: readonly ShownElement[];
  /** Nothing else was said since. */
  readonly isOpen: boolean;
}

/** What is offered, as a summary to confirm or to change. */
export function Quote({ of, data, against, isOpen }: QuoteProps) {
  const stopped = data.status === "stopped";
  return (
    <section class={stopped ? "card quote stopped" : "card quote"} aria-label={`Your booking: ${of.name}`}>
      <p class="eyebrow">{stopped ? "Not booked" : "Ready to book"}</p>
      <h3 dir="auto">{titleOf(of)}</h3>
      <KnownFacts
        of={[
          ["When", joined([data.day, data.time])],
          ["Where", whereOf(data)],
          ["Seats", [seatsOf(data), data.price_each && `${data.price_each} each`]],
          ["With", companionsOf(data)],
          ["Total", data.total],
        ]}
      />
      {against.map(({ id, name, data: conflict }) => (
        <p key={id} class="against">
          <b dir="auto">{`✗ ${name}. `}</b>
          {conflict?.because ? <span dir="auto">{said(conflict.because)}</span> : null}
          {quoteIn(conflict) && <Said class="small said" of={quoteIn(conflict)} />}
        </p>
      ))}
      {isOpen && <Offer name={of.name} data={data} />}
    </section>
  );
}

/** What the guest's button says for them, by a quote's status. */
const BOOKING_WORDS: ReadonlyMap<unknown, readonly [label: string, words: string]> = new Map([
  ["needs_confirmation", ["Confirm", "Yes, book it, please."]],
  ["stopped", ["Book anyway", "Book it anyway, please."]],
]);

/** The buttons of a quote: each is the guest's own word to just that. */
function Offer({ name, data }: { readonly name: string; readonly data: Fields }) {
  const { status, token, quantity } = data;
  const booked = Number.isInteger(quantity) ? Number(quantity) : 1;
  const seats = useSignal(booked);
  const changing = useSignal(false);
  const change = useFocus<HTMLDivElement>(changing.value, (node) => node.querySelector("button:not(:disabled)"));
  const words = BOOKING_WORDS.get(status);
  if (typeof token !== "string" || words === undefined) return null;
  const [label, yes] = words;
  const step = (by: number) => {
    seats.value = Math.min(MOST_SEATS, Math.max(1, seats.value + by));
  };
  return (
    <div class="offer">
      <div class="row">
        <SayButton
          label={label}
          class={status === "stopped" ? "secondary" : "primary"}
          aria-label={`${label}: ${name}`}
          words={yes}
          more={{ consent: token }}
        />
        <Toggle of={changing} label="Change" class="secondary plain-edge" aria-label={`Change: ${name}`} />
      </div>
      <div ref={change} class="change" hidden={!changing.value}>
        <div class="row">
          <span>Seats</span>
          <Button label="−" class="icon step" aria-label="One seat fewer" onClick={() => step(-1)} />
          <output aria-live="polite">{seats}</output>
          <Button label="+" class="icon step" aria-label="One seat more" onClick={() => step(1)} />
          <SayButton
            label="Update"
            class="secondary"
            disabled={seats.value === booked}
            words={`Make it ${seatsIn(seats.value)}, please.`}
          />
        </div>
        <Button label="Another place, day or event …" onClick={() => tell("write", { text: "I'd rather have " })} />
      </div>
    </div>
  );
}

/** What is booked; struck where it is cancelled. */
export function Ticket({ of, data, isCancelled }: CardProps & { readonly isCancelled: boolean }) {
  const title = titleOf(of);
  const where = whereOf(data);
  const seats = seatsOf(data);
  const company = companionsOf(data);
  const total = said(data.total_eur);
  return (
    <section class={isCancelled ? "card ticket cancelled" : "card ticket"} aria-label={`Ticket: ${title}`}>
      <div class="ticket-stub">
        <DateTile of={data} />
        {data.time ? (
          <p class="ticket-time">
            <span class="sr">{`${said(data.day)} at `}</span>
            {said(data.time)}
          </p>
        ) : null}
      </div>
      <div class="ticket-text">
        <p class="eyebrow">{isCancelled ? "Cancelled" : "Booked"}</p>
        <h3 dir="auto">{title}</h3>
        <p>
          <Isolated of={[where]} />
        </p>
        <p>
          <Isolated of={[seats, company && `with ${company}`]} />
        </p>
        <p class="ticket-foot row">
          {total && <b dir="ltr">€{total}</b>}
          {/* biome-ignore lint/a11y/useAriaPropsSupportedByRole: it is what a guest looks for */}
          <code aria-label="Reference" dir="ltr">
            {said(data.reference) || of.name}
          </code>
        </p>
        {!isCancelled && (
          <div class="ticket-keep row">
            <AddToCalendar booking={{ ...data, title, where, seats }} />
            <Print title={title} />
            {!isOver(data.date) && data.reference ? <CancelBooking reference={said(data.reference)} title={title} /> : null}
          </div>
        )}
      </div>
    </section>
  );
}

export function AddToCalendar({ booking }: { readonly booking: CalendarBooking }) {
  const file = calendarFile(booking);
  if (file === null) return null;
  const name = `${(said(booking.reference) || "booking").replace(/[^\w-]/g, "")}.ics`;
  return (
    <Button
      label="Add to calendar"
      aria-label={`Add to calendar: ${booking.title}`}
      onClick={() => saveFile(new Blob([file], { type: "text/calendar" }), name)}
    />
  );
}

function Print({ title }: { readonly title: string }) {
  const button = useRef<HTMLButtonElement>(null);
  const print = () => {
    const marks = [document.documentElement, button.current?.closest(".ticket")];
    for (const node of marks) node?.classList.add("printed-alone");
    addEventListener("afterprint", () => marks.forEach((node) => void node?.classList.remove("printed-alone")), { once: true });
    window.print();
  };
  return <Button label="Print" ref={button} aria-label={`Print: ${title}`} onClick={print} />;
}

export function CancelBooking({ reference, title }: { readonly reference: string; readonly title: string }) {
  const pressed = useSignal<"cancel" | "keep" | null>(null);
  const place = useFocus<HTMLDivElement>(pressed.value, (node) => node.querySelector("button:last-of-type"));
  return (
    <div ref={place} class="cancel">
      {pressed.value === "cancel" ? (
        <div class="row">
          <span>Cancel this booking?</span>
          <SayButton label="Yes, cancel it" class="secondary dangerous" words={`Please cancel my booking ${reference}.`} />
          <Button label="Keep it" onClick={() => (pressed.value = "keep")} />
        </div>
      ) : (
        <Button label="Cancel booking" title={`Cancel booking: ${title}`} onClick={() => (pressed.value = "cancel")} />
      )}
    </div>
  );
}
