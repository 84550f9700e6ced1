import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Fields, Part } from "./api-types.js";
import { Approval, type CardProps, DateTile, Quote, quoteIn, said, seatsIn, Ticket, titleOf, whereOf } from "./booking-cards.js";
import { Button } from "./controls.js";
import { type Exchange, marksOf, type ShownElement } from "./conversation.js";
import { isOver, joined } from "./format.js";
import { showMarkdown } from "./markdown.js";
import { Isolated, Said, SayButton, useFocus } from "./ui.js";

/** What an answer says and shows, part by part: words, what was found, offers with what stands against them, tickets. */

/** Events that are shown at first. */
const AT_ONCE = 5;
/** Where nobody said how many. */
const USUAL_SEATS = 2;

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

function Warning({ of: { name, content, data } }: { readonly of: ShownElement }) {
  const quote = quoteIn(data);
  return (
    <section class="card constraint" aria-label={name}>
      <h3 dir="auto">{name}</h3>
      <p dir="auto">{data === null ? content : said(data.because)}</p>
      {quote && <Said as="p" class="small" of={quote} />}
    </section>
  );
}

type EventsProps = Readonly<{ of: readonly ShownElement[]; first: number; exchange: Exchange }>;

/** What was found, in one column: when, what, where, how it suits, what it costs, and a button to book it. */
function Events({ of, first, exchange }: EventsProps) {
  const all = useSignal(false);
  const list = useFocus<HTMLOListElement>(all.value, ({ children }) => children[AT_ONCE]);
  return (
    <div>
      <ol ref={list} class="results">
        {(all.value ? of : of.slice(0, AT_ONCE)).map((each, index) => (
          <EventCard key={each.id} of={each} data={each.data ?? {}} number={first + index} exchange={exchange} />
        ))}
      </ol>
      {of.length > AT_ONCE && !all.value && (
        <Button label={`Show ${of.length - AT_ONCE} more`} class="secondary more" onClick={() => (all.value = true)} />
      )}
    </div>
  );
}

function EventCard({ of, data, number, exchange }: CardProps & { readonly number: number; readonly exchange: Exchange }) {
  const title = titleOf(of);
  const artist = said(data.artist);
  const price = said(data.from_price_eur);
  return (
    <li class="card event" aria-label={title}>
      <DateTile of={data} />
      <div class="event-text">
        <h3>
          <span class="number">{number} </span>
          <bdi>{title}</bdi>
        </h3>
        <p class="event-where">
          <span class="sr">{data.day ? `${data.day}, ` : ""}</span>
          <Isolated of={[data.time, whereOf(data)]} />
        </p>
        {artist && !title.includes(artist) && <Said as="p" class="small" of={artist} />}
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
    <p class="fit row">
      {marks.map(({ memory_id: memory, label, met }, index) => {
        const [sign, kind] = met === true ? ["✓", "met"] : met === false ? ["✗", "broken"] : ["?", "unsure"];
        const why = () => (exchange.reason.value = { memory: String(memory), open: true });
        return <Button label={`${sign} ${label}`} key={index} class={`mark-of ${kind}`} title="Why? Because you told me." onClick={why} />;
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
      label={`Book for ${seats}`}
      class="secondary book"
      aria-label={`Book for ${seats}: ${title}`}
      words={`Book ${seatsIn(seats)} for ${title}${on ? ` on ${on}` : ""}, please.`}
      more={{ page_context: { event_id: id, title, date } }}
    />
  );
}
