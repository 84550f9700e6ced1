import { signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { api, identity } from "./api.js";
import type { Fields } from "./api-types.js";
import { AddToCalendar, CancelBooking, said, whereOf } from "./booking-cards.js";
import { keptList } from "./browser-store.js";
import { Button } from "./controls.js";
import { joined, wordsOf } from "./format.js";
import { forgetHeld } from "./memories.js";
import { Problem, wordsFor } from "./problems.js";
import { me, tell } from "./state.js";
import { InPlaceForm, Isolated, KnownFacts, openDialog, TalkContext, toast } from "./ui.js";
import { useAnswer } from "./use-answer.js";

/** What the buttons of the first column open: the guest's bookings, what answers here, and who speaks. */

/** Something to read, under its title. */
const openRead = (title: string, content: (close: () => void) => ComponentChildren) =>
  openDialog(title, (close) => (
    <div class="stack">
      <h2>{title}</h2>
      {content(close)}
      <div class="row end">
        <Button label="Close" class="primary" onClick={close} />
      </div>
    </div>
  ));

/** One of another product's may be anything. */
const isBooking = (record: Fields) => typeof record.starts_at === "string" && typeof record.total_cents === "number";
const startOf = ({ starts_at: start }: Fields) => Date.parse(String(start));

/** Those to come first. */
export const openBookings = () => openRead("My bookings", (close) => <Bookings close={close} />);

function Bookings({ close }: { readonly close: () => void }) {
  const { value: records, failure } = useAnswer([], api.bookings);
  const now = Date.now();
  const over = (records ?? []).filter((each) => isBooking(each) && startOf(each) < now);
  const coming = (records ?? []).filter((each) => !over.includes(each));
  const groups = [
    ["To come", coming],
    ["Over", over.toReversed()],
  ] as const;
  return (
    <div class="stack" role="status">
      {failure !== null && <p class="warn">{wordsFor(failure).title}</p>}
      {records === null && failure === null && <p class="small">One moment …</p>}
      {records?.length === 0 && <p class="empty">You have booked nothing yet.</p>}
      {groups
        .filter(([, shown]) => shown.length > 0)
        .map(([name, shown]) => (
          <section key={name}>
            <h3>{name}</h3>
            <ul class="plain">
              {shown.map((each, index) => (
                <BookingRow key={index} of={each} isComing={name === "To come"} close={close} />
              ))}
            </ul>
          </section>
        ))}
    </div>
  );
}

/** Day and time as the clocks there show them, where that is known. */
function whenOf({ starts_at: startsAt, date, time }: Fields): string {
  const start = new Date(date && time ? `${date}T00:00:00Z` : String(startsAt));
  const day: Intl.DateTimeFormatOptions = { weekday: "short", day: "numeric", month: "short", year: "numeric" };
  if (date && time) return `${start.toLocaleDateString([], { ...day, timeZone: "UTC" })}, ${time}`;
  return start.toLocaleString([], { ...day, hour: "2-digit", minute: "2-digit" });
}

/** At the first answer that names its reference. */
async function openConversation(reference: string, close: () => void): Promise<void> {
  const hits = await api.said(reference).catch(() => []);
  const [first] = hits
    .filter(({ role, content }) => role === "assistant" && content.includes(reference))
    .sort((a, b) => Date.parse(a.created_at) - Date.parse(b.created_at));
  if (!first) return toast("The conversation in which this was booked is not there any more.");
  close();
  tell("open", { id: first.session_id, message: first.id });
}

type BookingRowProps = Readonly<{ of: Fields; isComing: boolean; close: () => void }>;

function BookingRow({ of, isComing, close }: BookingRowProps) {
  const { section, quantity, companions } = of;
  const title = said(of.title ?? of.name ?? of.reference) || "Booking";
  // A record of another product's: its text, as far as it has any.
  if (!isBooking(of))
    return (
      <li class="booking">
        <strong>{title}</strong>
      </li>
    );
  const reference = said(of.reference);
  const where = whereOf(of);
  const cancelled = of.status === "cancelled";
  const seats = `${quantity} × ${section}`;
  const total = (Number(of.total_cents) / 100).toLocaleString([], { style: "currency", currency: "EUR" });
  const say = (text: string) => {
    close();
    tell("speak", { text });
  };
  return (
    <li class={cancelled ? "booking cancelled" : "booking"}>
      <strong dir="auto">{title}</strong>
      <span class="small">
        <Isolated of={[whenOf(of), where]} />
      </span>
      <span>
        <Isolated of={[seats, total, Array.isArray(companions) && companions.length > 0 && `with ${joined(companions)}`]} />
      </span>
      <span class="small">{cancelled ? "Cancelled" : `Booked${reference ? `, reference ${reference}` : ""}`}</span>
      {isComing && !cancelled && (
        <TalkContext.Provider value={{ say, busy: signal(false) }}>
          <div class="ticket-keep row">
            <AddToCalendar booking={{ ...of, booking_id: of.id, title, where, seats }} />
            {reference && <Button label="Open its conversation" onClick={() => void openConversation(reference, close)} />}
            {reference && <CancelBooking reference={reference} title={title} />}
          </div>
        </TalkContext.Provider>
      )}
    </li>
  );
}

const STATES: Readonly<Record<string, string>> = { ok: "in order", degraded: "in trouble", down: "out of reach", disabled: "switched off" };
const PARTS: Readonly<Record<string, string>> = {
  short_term: "Conversations",
  long_term: "Memory",
  write_back: "Taking notes",
  history: "What was said",
  model: "Answers",
  embedder: "Search",
};

/** Which model and stores answer, and how they are: for whoever runs it. No key's text is ever sent to the page. */
export const openAbout = () => openRead("About", () => <About />);

function About() {
  const { value: ready } = useAnswer([], api.ready);
  const health = Object.entries(ready?.parts ?? {}).map(
    ([name, { status, detail }]) => [PARTS[name] ?? wordsOf(name), joined([STATES[status] ?? status, detail], ": ")] as const,
  );
  if (me.value === null) return null;
  const { server, user } = me.value;
  const keys = Object.entries(server.keys ?? {}).map(([name, set]) => `${name} ${set ? "is set" : "is not set"}`);
  return (
    <>
      <KnownFacts
        of={[
          ["Version", `Maitred ${server.version}`],
          ["Answers come from", server.model.stand_in ? `${server.model.name}: by rules, no language model` : server.model.name],
          ["Memory", server.long_term.enabled ? (server.long_term.location ?? "on") : "switched off"],
          ["Search by", `${server.embedder.id}: by ${server.embedder.lexical ? "words" : "meaning"}`],
          ["Conversations", server.short_term],
          ["What was said", server.history.backend],
          ["Kept in", server.storage_dir],
          ["Keys", keys.join("\n")],
          ["You", user.tenant === "default" ? user.id : `${user.id} of ${user.tenant}`],
        ]}
      />
      <div role="status">
        {health.length > 0 && (
          <>
            <h3>How it is</h3>
            <KnownFacts of={health} />
          </>
        )}
      </div>
    </>
  );
}

/** In local mode one may speak as anyone. */
const recent = keptList<string>("maitred.users", 6);

export async function openUsers(): Promise<void> {
  if (me.value?.server.auth_mode === "local") return openDialog("Who is speaking?", (close) => <Users close={close} />);
  const { id, display_name: name, provider } = me.value?.user ?? { id: "" };
  return openRead(name ?? id, () => <p>{provider ? `You are signed in with ${provider}.` : "You are signed in."}</p>);
}

/** Whether the server takes the name. @throws Problem with what is wrong with it */
function tryName(user: string): Promise<unknown> {
  const before = identity.user;
  // Only this request goes in that name: its headers are made at once.
  identity.user = user;
  const asked = api.me();
  identity.user = before;
  return asked;
}

/** A name that can't be one is refused here, and nobody is changed. */
function Users({ close }: { readonly close: () => void }) {
  const now = me.value?.user.id ?? "";
  const field = useRef<HTMLInputElement>(null);
  const wrong = useSignal("");
  const become = async (user: string) => {
    if (user === now) return close();
    try {
      await tryName(user);
    } catch (error) {
      const isName = !(error instanceof Problem) || error.status === 400;
      wrong.value = isName
        ? `“${user}” can't be a name here: no spaces and no stars, please. You are still ${now}.`
        : wordsFor(error).title;
      return field.current?.focus();
    }
    await forgetHeld();
    for (const each of [now, user]) recent.put(each, (other) => other === each);
    identity.asUser(user);
    // Nothing of the one before stays on the page, and nothing that still runs goes on in the new name.
    history.replaceState(null, "", location.pathname);
    location.reload();
  };
  const others = recent.all().filter((each) => each !== now);
  return (
    <InPlaceForm send="Continue" onSent={() => void become(field.current?.value.trim() ?? "")} onLeft={close}>
      <h2>Who is speaking?</h2>
      <p>On this machine you may speak as anyone. Each has conversations and memories of their own.</p>
      <label>
        Name
        <input
          ref={field}
          type="text"
          maxLength={256}
          defaultValue={now}
          required
          autocapitalize="none"
          aria-invalid={wrong.value !== ""}
        />
      </label>
      <p class="small warn" role="alert">
        {wrong}
      </p>
      {others.length > 0 && (
        <div class="row">
          {others.map((user) => (
            <Button label={user} key={user} class="chip row" onClick={() => void become(user)} />
          ))}
        </div>
      )}
    </InPlaceForm>
  );
}
