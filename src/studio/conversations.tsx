import { signal } from "@preact/signals";
import { type Conversation, client } from "./client.js";
import { ConversationScreen } from "./conversation.js";
import { ConversationFilters, conversationQuery, type Filters, filtersInWords } from "./conversation-filters.js";
import { Heading, Link, List, Paged } from "./parts.js";
import { addressOf, type Route } from "./route.js";
import { Figure, Name, Said, State, When } from "./shown.js";
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
