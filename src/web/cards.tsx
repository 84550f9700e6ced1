import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Fields, Part } from "./api-types.js";
import { type CalendarBooking, calendarFile } from "./calendar-file.js";
import { type Exchange, marksOf, type ShownElement } from "./conversation.js";
import { isOver, joined, tileOf } from "./format.js";
import { showMarkdown } from "./markdown.js";
import { tell } from "./state.js";
import { Button, Facts, Isolated, SayButton, saveFile } from "./ui.js";

/** What an answer says and shows, part by part: words, what was found, offers with what stands against them, tickets. */

/** Events that are shown at first. */
const AT_ONCE = 5;
/** Where nobody said how many. */
const USUAL_SEATS = 2;
const MOST_SEATS = 20;

/** A field as text; empty where there is none. */
const said = (value: unknown): string => (value === undefined || value === null || value === false ? "" : String(value));
const titleOf = ({ name, data }: ShownElement) => said(data?.title) || name;
const seatsIn = (count: unknown) => `${count} ${count === 1 ? "seat" : "seats"}`;
const seatsOf = ({ quantity, section }: Fields) => (quantity === undefined ? "" : joined([seatsIn(quantity), section]));
const whereOf = ({ venue, city }: Fields) => joined([venue, city]);
const companionsOf = ({ companions }: Fields) => (Array.isArray(companions) ? joined(companions) : "");
const isKnown = (element: ShownElement | undefined): element is ShownElement => element !== undefined;

export function Parts({ of }: { readonly of: Exchange }) {
  const elements = of.elements.value;
  const parts = of.parts.value;
  const elementsOf = (part: Part) => (!("elements" in part) ? [] : part.elements.map((id) => elements.get(id)).filter(isKnown));
  const all = (type: Part["type"]) => parts.filter((part) => part.type === type).flatMap(elementsOf);
  const inParts = new Set(parts.flatMap(elementsOf));
  let events = 0;
  const partOf = (part: Part, index: number) => {
    if (part.type === "text") return <Prose key={`${index} text`} text={part.text} />;
    const first = events + 1;
    events += part.type === "cards" ? part.elements.length : 0;
    return (
      <div key={`${index} ${part.type}`} class="cards">
        <Shown type={part.type} elements={elementsOf(part)} first={first} warnings={all("warning")} offers={all("quote")} of={of} />
      </div>
    );
  };
  return (
    <div>
      <div class="parts">{parts.map(partOf)}</div>
      <div class="beside">{of.given.value && <Citations of={[...elements.values()].filter((each) => !inParts.has(each))} />}</div>
    </div>
  );
}

/** What is selected in a text that grows stays selected. */
function Prose({ text }: { readonly text: string }) {
  const node = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (node.current) showMarkdown(node.current, text);
  }, [text]);
  return <div ref={node} class="prose" />;
}

/** A warning and the offer that it stands against have one token. */
const isAgainst = (warning: ShownElement, offer: ShownElement) =>
  typeof offer.data?.token === "string" && warning.data?.token === offer.data.token;

interface ShownProps {
  readonly type: Exclude<Part["type"], "text">;
  readonly elements: readonly ShownElement[];
  /** The number of its first card. */
  readonly first: number;
  /** All of the answer's. */
  readonly warnings: readonly ShownElement[];
  readonly offers: readonly ShownElement[];
  readonly of: Exchange;
}

function Shown({ type, elements, first, warnings, offers, of }: ShownProps): ComponentChildren {
  if (type === "cards") {
    const events = elements.filter((each) => each.type === "event_card" && each.data !== null);
    return (
      <>
        {events.length > 0 && <Events of={events} first={first} exchange={of} />}
        <Citations of={elements.filter((each) => !events.includes(each))} />
      </>
    );
  }
  if (type === "warning")
    return elements.filter((each) => !offers.some((offer) => isAgainst(each, offer))).map((each) => <Warning key={each.id} of={each} />);
  return elements.map((each) => {
    const { id, data } = each;
    if (data === null) return <Citations key={id} of={[each]} />;
    if (type === "ticket") return <Ticket key={id} of={each} data={data} isCancelled={of.talk.cancelled.value.has(data.booking_id)} />;
    if (each.type === "approval") return <Approval key={id} data={data} isOpen={of.isLast.value} />;
    return <Quote key={id} of={each} data={data} against={warnings.filter((one) => isAgainst(one, each))} isOpen={of.isLast.value} />;
  });
}

/** What an answer cites, and what this page has no card for. */
function Citations({ of }: { readonly of: readonly ShownElement[] }) {
  if (of.length === 0) return null;
  return (
    <div class="citations">
      {of.map(({ id, name, content }) => (
        <details key={id} class="citation">
          <summary dir="auto">{name}</summary>
          <p dir="auto">{content}</p>
        </details>
      ))}
    </div>
  );
}

function quoteIn(data: Fields | null): string {
  const { quote } = (data?.source ?? {}) as { readonly quote?: unknown };
  return quote ? `You said: “${quote}”` : "";
}

function Warning({ of: { name, content, data } }: { readonly of: ShownElement }) {
  const quote = quoteIn(data);
  return (
    <section class="card constraint" aria-label={name}>
      <h3 dir="auto">{name}</h3>
      <p dir="auto">{data === null ? content : said(data.because)}</p>
      {quote && (
        <p class="small" dir="auto">
          {quote}
        </p>
      )}
    </section>
  );
}

interface EventsProps {
  readonly of: readonly ShownElement[];
  readonly first: number;
  readonly exchange: Exchange;
}

/** What was found, in one column: when, what, where, how it suits, what it costs, and a button to book it. */
function Events({ of, first, exchange }: EventsProps) {
  const all = useSignal(false);
  const list = useRef<HTMLOListElement>(null);
  useLayoutEffect(() => {
    const next = all.value ? list.current?.children[AT_ONCE] : undefined;
    if (!(next instanceof HTMLElement)) return;
    next.tabIndex = -1;
    next.focus();
  }, [all.value]);
  return (
    <div>
      <ol ref={list} class="results">
        {(all.value ? of : of.slice(0, AT_ONCE)).map((each, index) => (
          <EventCard key={each.id} of={each} data={each.data ?? {}} number={first + index} exchange={exchange} />
        ))}
      </ol>
      {of.length > AT_ONCE && !all.value && (
        <Button class="secondary more" onClick={() => (all.value = true)}>
          {`Show ${of.length - AT_ONCE} more`}
        </Button>
      )}
    </div>
  );
}

function DateTile({ date, day }: Fields) {
  const tile = tileOf(date);
  return (
    <div class="tile" aria-hidden="true">
      <span>{tile === null ? said(day) : tile.weekday}</span>
      {tile && <b>{tile.day}</b>}
      {tile && <span>{tile.month}</span>}
    </div>
  );
}

interface CardProps {
  readonly of: ShownElement;
  readonly data: Fields;
}

function EventCard({ of, data, number, exchange }: CardProps & { readonly number: number; readonly exchange: Exchange }) {
  const title = titleOf(of);
  const artist = said(data.artist);
  const price = said(data.from_price_eur);
  return (
    <li class="card event" aria-label={title}>
      <DateTile {...data} />
      <div class="event-text">
        <h3>
          <span class="number">{number} </span>
          <bdi>{title}</bdi>
        </h3>
        <p class="event-where">
          <span class="sr">{data.day ? `${data.day}, ` : ""}</span>
          <Isolated of={[data.time, whereOf(data)]} />
        </p>
        {artist && !title.includes(artist) && (
          <p class="small" dir="auto">
            {artist}
          </p>
        )}
        <Fit data={data} exchange={exchange} />
      </div>
      <div class="event-side">
        {price && (
          <p class="price">
            <bdi>from €{price}</bdi>
          </p>
        )}
        <Book title={title} data={data} />
      </div>
    </li>
  );
}

/** What stands against an event is said first, in clear sight. */
function Fit({ data, exchange }: { readonly data: Fields; readonly exchange: Exchange }) {
  const marks = marksOf(data).toSorted((a, b) => Number(a.met === true) - Number(b.met === true));
  const named = marks.some(({ label }) => label.includes("step-free"));
  const access = data.step_free === undefined || named ? "" : data.step_free ? "step-free" : "not step-free";
  const menus = Array.isArray(data.menus) && data.menus.length > 0 ? `menus: ${joined(data.menus)}` : "";
  const plain = [access, menus].filter(Boolean);
  if (marks.length + plain.length === 0) return null;
  return (
    <p class="fit">
      {marks.map(({ memory_id: memory, label, met }, index) => {
        const [sign, kind] = met === true ? ["✓", "met"] : met === false ? ["✗", "broken"] : ["?", "unsure"];
        const why = () => (exchange.reason.value = { memory: String(memory), open: true });
        return (
          <Button key={index} class={`mark-of ${kind}`} title="Why? Because you told me." onClick={why}>
            {`${sign} ${label}`}
          </Button>
        );
      })}
      {plain.map((label) => (
        <span key={label} class="plain">
          {label}
        </span>
      ))}
    </p>
  );
}

function Book({ title, data }: { readonly title: string; readonly data: Fields }) {
  const { event_id: id, date = null, day, time } = data;
  if (typeof id !== "string" || isOver(date)) return null;
  const seats = Number.isInteger(data.seats) && Number(data.seats) > 0 ? data.seats : USUAL_SEATS;
  const on = joined([day, time], " at ");
  return (
    <SayButton
      class="secondary book"
      aria-label={`Book ${seats}: ${title}`}
      words={`Book ${seatsIn(seats)} for ${title}${on ? ` on ${on}` : ""}, please.`}
      more={{ page_context: { event_id: id, title, date } }}
    >
      {`Book ${seats}`}
    </SayButton>
  );
}

/** What an answer showed before it is done, in any domain: one line, what stands against it, and the button that is the guest's word. */
function Approval({ data, isOpen }: { readonly data: Fields; readonly isOpen: boolean }) {
  const conflicts = Array.isArray(data.conflicts) ? data.conflicts.map(String) : [];
  const stopped = conflicts.length > 0;
  const [label, words] = stopped ? ["Do it anyway", "Do it anyway, please."] : ["Confirm", "Yes, please."];
  const question = said(data.question) || said(data.tool);
  return (
    <section class={stopped ? "card quote stopped" : "card quote"} aria-label={question}>
      <p class="eyebrow">{stopped ? "Not done" : "Ready to do"}</p>
      <h3 dir="auto">{question}</h3>
      {conflicts.map((line) => (
        <p key={line} class="against" dir="auto">{`✗ ${line}`}</p>
      ))}
      {isOpen && typeof data.token === "string" && (
        <div class="offer">
          <div class="row">
            <SayButton
              class={stopped ? "secondary" : "primary"}
              aria-label={`${label}: ${question}`}
              words={words}
              more={{ consent: data.token }}
            >
              {label}
            </SayButton>
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
function Quote({ of, data, against, isOpen }: QuoteProps) {
  const stopped = data.status === "stopped";
  return (
    <section class={stopped ? "card quote stopped" : "card quote"} aria-label={`Your booking: ${of.name}`}>
      <p class="eyebrow">{stopped ? "Not booked" : "Ready to book"}</p>
      <h3 dir="auto">{titleOf(of)}</h3>
      <Facts
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
          {quoteIn(conflict) && (
            <span class="small said" dir="auto">
              {quoteIn(conflict)}
            </span>
          )}
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
  const change = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (changing.value) change.current?.querySelector<HTMLElement>("button:not(:disabled)")?.focus();
  }, [changing.value]);
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
          class={status === "stopped" ? "secondary" : "primary"}
          aria-label={`${label}: ${name}`}
          words={yes}
          more={{ consent: token }}
        >
          {label}
        </SayButton>
        <Button
          class="secondary plain-edge"
          aria-expanded={changing.value}
          aria-label={`Change: ${name}`}
          onClick={() => (changing.value = !changing.value)}
        >
          Change
        </Button>
      </div>
      <div ref={change} class="change" hidden={!changing.value}>
        <div class="row">
          <span>Seats</span>
          <Button class="icon step" aria-label="One seat fewer" onClick={() => step(-1)}>
            −
          </Button>
          <output aria-live="polite">{seats}</output>
          <Button class="icon step" aria-label="One seat more" onClick={() => step(1)}>
            +
          </Button>
          <SayButton class="secondary" disabled={seats.value === booked} words={`Make it ${seatsIn(seats.value)}, please.`}>
            Update
          </SayButton>
        </div>
        <Button onClick={() => tell("write", { text: "I'd rather have " })}>Another place, day or event …</Button>
      </div>
    </div>
  );
}

/** What is booked; struck where it is cancelled. */
function Ticket({ of, data, isCancelled }: CardProps & { readonly isCancelled: boolean }) {
  const title = titleOf(of);
  const where = whereOf(data);
  const seats = seatsOf(data);
  const company = companionsOf(data);
  const total = said(data.total_eur);
  return (
    <section class={isCancelled ? "card ticket cancelled" : "card ticket"} aria-label={`Ticket: ${title}`}>
      <div class="ticket-stub">
        <DateTile {...data} />
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
        <p class="ticket-foot">
          {total && <b dir="ltr">€{total}</b>}
          {/* biome-ignore lint/a11y/useAriaPropsSupportedByRole: it is what a guest looks for */}
          <code aria-label="Reference" dir="ltr">
            {said(data.reference) || of.name}
          </code>
        </p>
        {!isCancelled && (
          <div class="ticket-keep">
            <div class="row">
              <AddToCalendar booking={{ ...data, title, where, seats }} />
              <Print title={title} />
            </div>
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
    <Button aria-label={`Add to calendar: ${booking.title}`} onClick={() => saveFile(new Blob([file], { type: "text/calendar" }), name)}>
      Add to calendar
    </Button>
  );
}

/** Prints the ticket alone. */
function Print({ title }: { readonly title: string }) {
  const button = useRef<HTMLButtonElement>(null);
  const print = () => {
    const marks = [document.documentElement, button.current?.closest(".ticket")];
    for (const node of marks) node?.classList.add("printed-alone");
    addEventListener("afterprint", () => marks.forEach((node) => void node?.classList.remove("printed-alone")), { once: true });
    window.print();
  };
  return (
    <Button ref={button} aria-label={`Print: ${title}`} onClick={print}>
      Print
    </Button>
  );
}

/** Asks before it cancels. */
export function CancelBooking({ reference, title }: { readonly reference: string; readonly title: string }) {
  const asks = useSignal(false);
  const place = useRef<HTMLDivElement>(null);
  const asked = useRef(false);
  useLayoutEffect(() => {
    if (asks.value || asked.current) place.current?.querySelector<HTMLElement>("button:last-of-type")?.focus();
    asked.current = asks.value;
  }, [asks.value]);
  return (
    <div ref={place} class="cancel">
      {asks.value ? (
        <div class="row">
          <span>Cancel this booking?</span>
          <SayButton class="secondary dangerous" words={`Please cancel my booking ${reference}.`}>
            Yes, cancel it
          </SayButton>
          <Button onClick={() => (asks.value = false)}>Keep it</Button>
        </div>
      ) : (
        <Button title={`Cancel booking: ${title}`} onClick={() => (asks.value = true)}>
          Cancel booking
        </Button>
      )}
    </div>
  );
}
