import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { Button, Facts, Submit } from "../web/controls.js";
import { type Conversation, type ConversationWithTurns, client, type OwnerName, type TurnLine } from "./client.js";
import { dayStart, moneyOf, wordsOf } from "./format.js";
import { Choice, Empty, Field, GuestLink, Heading, itself, Link, List, Paged } from "./parts.js";
import { addressOf, type Route, setQuery } from "./route.js";
import { about } from "./session.js";
import { Figure, Name, Said, State, Talk, When } from "./shown.js";
import { TurnScreen } from "./turn.js";
import { LIVE_MS, usePages } from "./use-loaded.js";

/** What the list is narrowed to; it stays while one looks at a conversation. */
const filters = signal<Filters>({});
/** Whether the list is asked for again by itself. */
const live = signal(true);

/** Where filters need not be folded away. */
const WIDE = "(min-width: 68rem)";

/** The list of conversations, and beside it, where there is room, the one that is looked at. */
export function ConversationsScreen({ at }: { readonly at: Route }) {
  const [tenant, user, session, turn] = at.path;
  const chosen = tenant !== undefined && user !== undefined && session !== undefined;
  if (!chosen) filters.value = at.query;
  return (
    <div class={chosen ? "panes chosen" : "panes"}>
      <ListPane current={chosen ? session : null} />
      <div class="detail-pane">
        {chosen && (
          <p class="back">
            <Link to={addressOf("conversations", [], filters.value)}>← Conversations</Link>
          </p>
        )}
        {chosen && turn !== undefined && (
          <TurnScreen tenant={tenant} user={user} session={session} turn={turn} compare={at.query.compare === "yes"} />
        )}
        {chosen && turn === undefined && <ConversationScreen tenant={tenant} user={user} session={session} />}
      </div>
    </div>
  );
}

function ListPane({ current }: { readonly current: string | null }) {
  const query = conversationQuery(filters.value);
  const list = usePages(
    JSON.stringify(query),
    (cursor, abort) => client.conversations(query, cursor, abort),
    live.value ? LIVE_MS : undefined,
  );
  return (
    <div class="list-pane">
      {current === null ? <Heading title="Conversations">Conversations</Heading> : <p class="pane-title">Conversations</p>}
      <ConversationFilters of={filters.value} open={current === null && matchMedia(WIDE).matches} />
      <p class="row between">
        <span class="note" dir="auto">
          {filtersInWords(filters.value)}
        </span>
        <label class="check">
          <input type="checkbox" checked={live} onChange={() => (live.value = !live.value)} />
          Live
        </label>
      </p>
      <Paged of={list} empty="No conversation fits. Take a filter away, or wait for a guest." moreLabel="Show older ones">
        {(rows) => (
          <List of={rows} as="ul" class="cards">
            {(row) => <Card of={row} current={row.session_id === current} />}
          </List>
        )}
      </Paged>
    </div>
  );
}

function Card({ of, current }: { readonly of: Conversation; readonly current: boolean }) {
  return (
    <div class={current ? "conversation current" : "conversation"}>
      <p class="conversation-title">
        <Link to={addressOf("conversations", [of.tenant, of.user, of.session_id])} current={current}>
          {of.title === null && of.title_chars === null ? (
            <span class="unknown">no title</span>
          ) : (
            <Said text={of.title} chars={of.title_chars} />
          )}
        </Link>
      </p>
      <p class="note">
        <Name of={of.user} /> · <Figure of={of.turns} unit={of.turns === 1 ? "turn" : "turns"} /> · <Figure of={of.cost} as="money" />
      </p>
      <p class="note row">
        <When at={of.last_active_at} ago />
        <span class="sr">Memory:</span> <State of={of.memory_status} />
        {of.failed_turns !== null && of.failed_turns > 0 && <State of="failed">{of.failed_turns} failed</State>}
        {of.pending_turns !== null && of.pending_turns > 0 && <State of="pending">{of.pending_turns} to be remembered</State>}
        {of.status !== null && of.status !== "active" && <State of={of.status} />}
      </p>
    </div>
  );
}

/** As the address has them. */
type Filters = Readonly<Record<string, string>>;

const MEMORY_STATUSES = ["ok", "empty", "disabled", "timeout", "degraded"];
const FAILURES = [
  ["", "any"],
  ["true", "with a failure"],
  ["false", "without"],
] as const;
const NAMES = ["tenant", "user", "from", "to", "memory_status", "failed", "min_cost"] as const;

/** What the server is asked for: days are the reader's own, the last one included. */
function conversationQuery({ tenant, user, from, to, memory_status, failed, min_cost }: Filters) {
  return { tenant, user, from: dayStart(from), to: dayStart(to, 1), memory_status, failed, min_cost: decimalOf(min_cost) };
}

/** "1e-3" is a number for a browser, and none for the server. */
function decimalOf(amount: string | undefined): string | undefined {
  const given = Number(amount || Number.NaN);
  return Number.isFinite(given) && given >= 0 ? given.toFixed(12).replace(/\.?0+$/, "") : undefined;
}

function filtersInWords({ tenant, user, from, to, memory_status, failed, min_cost }: Filters): string {
  const parts = [
    // A guest's name is one of a tenant.
    (tenant || user) && `of ${tenant || "default"}`,
    user && `by ${user}`,
    from && `since ${from}`,
    to && `until ${to}`,
    memory_status && `memory: ${wordsOf(memory_status)}`,
    failed === "true" && "with a failure",
    failed === "false" && "without a failure",
    min_cost && `from ${moneyOf(Number(min_cost))}`,
  ].filter((part) => typeof part === "string" && part !== "");
  return parts.length === 0 ? "All, newest first" : parts.join(" · ");
}

function ConversationFilters({ of, open }: { readonly of: Filters; readonly open: boolean }) {
  const apply = (event: Event) => {
    event.preventDefault();
    const form = (event.currentTarget as HTMLElement).closest("form");
    if (form === null) return;
    const given = new FormData(form);
    const query = Object.fromEntries(NAMES.map((name) => [name, String(given.get(name) ?? "").trim()]));
    location.hash = addressOf("conversations", [], query) ?? "";
  };
  const tenants = about.value?.tenants ?? null;
  const set = NAMES.filter((name) => of[name]).length;
  return (
    <details class="filters" open={open || undefined}>
      <summary>Filters{set > 0 && ` (${set} set)`}</summary>
      <search>
        <form onSubmit={apply} key={JSON.stringify(of)}>
          {tenants === null ? (
            <Field label="Tenant" name="tenant" defaultValue={of.tenant ?? ""} />
          ) : (
            <Choice label="Tenant" name="tenant" value={of.tenant} options={[["", "all"], ...tenants.map(itself)]} onChange={apply} />
          )}
          <Field label="Guest" name="user" defaultValue={of.user ?? ""} autoComplete="off" />
          <Field label="From" type="date" name="from" defaultValue={of.from ?? ""} onChange={apply} />
          <Field label="To" type="date" name="to" defaultValue={of.to ?? ""} onChange={apply} />
          <Choice
            label="Memory"
            name="memory_status"
            value={of.memory_status}
            options={[["", "any"], ...MEMORY_STATUSES.map(itself)]}
            onChange={apply}
          />
          <Choice label="Failures" name="failed" value={of.failed} options={FAILURES} onChange={apply} />
          <Field
            label="Costs at least"
            type="number"
            name="min_cost"
            defaultValue={of.min_cost ?? ""}
            min="0"
            step="any"
            inputMode="decimal"
          />
          <p class="row">
            <Submit label="Apply" class="secondary" />
            {set > 0 && <Button label="Take all away" onClick={() => setQuery({})} />}
          </p>
        </form>
      </search>
    </details>
  );
}

type Place = OwnerName & { readonly session: string };

function ConversationScreen({ tenant, user, session }: Place) {
  const [head, setHead] = useState<ConversationWithTurns | null>(null);
  const turns = usePages(`${tenant}/${user}/${session}`, async (cursor, abort) => {
    const answer = await client.conversation({ tenant, user }, session, cursor, abort);
    if (cursor === null) setHead(answer);
    return { data: answer.turns ?? [], next_cursor: answer.next_cursor };
  });
  const untitled = head === null || (head.title === null && head.title_chars === null);
  return (
    <>
      <Heading title="A conversation">{untitled ? "A conversation" : <Said text={head.title} chars={head.title_chars} />}</Heading>
      {head !== null && (
        <Facts
          of={[
            ["Guest", <GuestLink key="guest" of={{ tenant, user }} />],
            ["Tenant", <Name key="tenant" of={tenant} />],
            ["Last active", <When key="at" at={head.last_active_at} />],
            ["Turns", <Figure key="turns" of={head.turn_count} />],
            ["Status", <State key="status" of={head.status} />],
            ["Cost", <Figure key="cost" of={head.cost} as="money" />],
            ["Tokens", <Figure key="tokens" of={head.tokens} />],
            ["Failed turns", <Figure key="failed" of={head.failed_turns} />],
            ["To be remembered", <Figure key="pending" of={head.pending_turns} unit="turns" />],
            ["Session", <Name key="session" of={session} />],
          ]}
        />
      )}
      {head?.turns === null ? (
        <Empty>Which turns it has is unknown.</Empty>
      ) : (
        <Paged
          of={turns}
          empty="It has no turns."
          missing="There is no such conversation, or it was deleted."
          moreLabel="Show earlier turns"
        >
          {(rows) => (
            <List of={rows} class="turns">
              {(row) => <TurnCard of={row} place={{ tenant, user, session }} />}
            </List>
          )}
        </Paged>
      )}
    </>
  );
}

function TurnCard({ of, place: { tenant, user, session } }: { readonly of: TurnLine; readonly place: Place }) {
  return (
    <article class="card turn-card">
      <h2>
        <Link to={addressOf("turns", [tenant, user, session, of.turn])}>
          Turn <Name of={of.turn} />
        </Link>
      </h2>
      <Talk of={of} />
      <p class="note row">
        <When at={of.at} /> · <Figure of={of.duration_ms} as="duration" /> · <Figure of={of.cost} as="money" />
        <span class="sr">Memory:</span> <State of={of.memory_status} />
        {of.outcome !== null && <State of={of.outcome} />}
        {of.error_code !== null && <Name of={of.error_code} />}
      </p>
    </article>
  );
}
