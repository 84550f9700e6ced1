import { effect, useSignal } from "@preact/signals";
import { api } from "./api.js";
import type { Hit, Session } from "./api-types.js";
import { Button, Submit, sending } from "./controls.js";
import { joined, when } from "./format.js";
import * as list from "./session-list.js";
import { titleOf, VIEWS, type View } from "./session-list.js";
import { putAway } from "./stage.js";
import { session as current, running, tell } from "./state.js";
import { byId, InPlaceForm, Marked, Said, show, toastProblem, useInPlace } from "./ui.js";

/** The conversations as they are shown: search, open, rename, archive, delete; the archived ones, and the bin. */

const SEARCH_AFTER_MS = 250;
/** Characters of a message that are shown before the word that was searched for, at most, and in all. */
const BEFORE = 16;
const AROUND = 90;

/** In an archived conversation nothing can be said: that stands above it, with the way back, as long as it is so. */
export function PutAway() {
  const id = putAway.value;
  if (id === null || id !== current.value) return null;
  const back = async () => {
    if ((await list.attempt(() => api.change(id, { status: "active" }))) && putAway.value === id) putAway.value = null;
  };
  return (
    <p class="banner put-away row between" role="status">
      <span>This conversation is archived.</span>
      <Button label="Bring back" class="secondary" onClick={() => void back()} />
    </p>
  );
}

export function startSessions(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const relist = () => void list.attempt(async () => {});
  byId("session-search").addEventListener(
    "submit",
    sending(() => {}),
  );
  list.field().addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(relist, SEARCH_AFTER_MS);
  });
  byId("more-sessions").addEventListener("click", () => void list.more().catch(toastProblem));
  effect(() => {
    byId("more-sessions").hidden = list.cursor.value === null;
  });
  show("session-list", <Rows />);
  show("session-views", <Views relist={relist} />);
}

function Views({ relist }: { readonly relist: () => void }) {
  const look = (name: View) => {
    list.view.value = name;
    list.listed.value = [];
    list.expanded.value = null;
    list.field().value = "";
    relist();
  };
  return (
    <>
      <legend class="sr">Which conversations are listed</legend>
      {(Object.keys(VIEWS) as View[]).map((name) => (
        <Button label={VIEWS[name].label} key={name} aria-pressed={list.view.value === name} onClick={() => look(name)} />
      ))}
    </>
  );
}

function Rows() {
  const lines = linesOf(list.listed.value.map(({ session }) => session));
  if (list.listed.value.length > 0)
    return list.listed.value.map(({ session, hit }) =>
      session.status === "deleted" ? (
        <BinRow key={session.id} of={session} />
      ) : (
        <Row key={session.id} of={session} hit={hit} line={lines.get(session.id) ?? ""} />
      ),
    );
  return (
    <li class="small empty">
      {list.problem.value === null ? (
        list.searched.value ? (
          `Nothing fits “${list.searched.value}”.`
        ) : (
          VIEWS[list.view.value].empty
        )
      ) : (
        <>
          {list.problem.value}. <Button label="List them again" onClick={() => void list.listSessions()} />
        </>
      )}
    </li>
  );
}

/** What stands below the titles, by id: the time, and what tells apart those of the same title. */
function linesOf(sessions: readonly Session[]): ReadonlyMap<string, string> {
  const lines = new Map<string, string>();
  for (const session of sessions) {
    const twins = sessions.filter((each) => titleOf(each) === titleOf(session));
    const told = (each: Session) =>
      joined([when(each.updated_at), twins.length > 1 && (each.topic || `${each.message_count} messages`)], " · ");
    const line = told(session);
    const same = twins.filter((each) => told(each) === line);
    // The first one said is the first.
    lines.set(session.id, same.length > 1 ? `${line} (${same.length - same.indexOf(session)})` : line);
  }
  return lines;
}

type RowProps = Readonly<{ of: Session; hit: Hit | null; line: string }>;

/** One to open, with what can be done about it behind a button. */
function Row({ of, hit, line }: RowProps) {
  const renaming = useSignal(false);
  const { ref, leave } = useInPlace(renaming);
  const title = titleOf(of);
  const isCurrent = of.id === current.value;
  const isExpanded = of.id === list.expanded.value;
  const doing = list.pending.value.get(of.id);
  const stands = joined([of.status === "archived" && " · archived", of.metadata?.incognito === true && " · temporary"], "");
  if (renaming.value)
    return (
      <li>
        <Rename
          of={of}
          onDone={() => {
            list.expanded.value = null;
            leave();
          }}
        />
      </li>
    );
  return (
    <li
      class={`${isCurrent ? "current" : ""} ${running.value.has(of.id) ? "running" : ""}`}
      data-session={of.id}
      aria-busy={doing !== undefined}
    >
      <div class="session-line">
        <button
          ref={ref}
          type="button"
          class="open"
          aria-current={isCurrent}
          onClick={() => tell("open", { id: of.id, message: hit?.id ?? null })}
        >
          <Said class="session-title" title={title} of={title} />
          {hit && <Piece content={hit.content} text={list.searched.value} />}
          {doing ? (
            <span class="small pending" role="status">
              {doing}
            </span>
          ) : (
            <span class="small">
              <time dateTime={of.updated_at}>{line}</time>
              {stands}
            </span>
          )}
        </button>
        <Button
          label="⋯"
          class="icon options"
          aria-label={`Options for ${title}`}
          aria-expanded={isExpanded}
          disabled={doing !== undefined}
          onClick={() => (list.expanded.value = isExpanded ? null : of.id)}
        />
      </div>
      {isExpanded && doing === undefined && (
        <div class="row actions">
          <Button label="Rename" aria-label={`Rename ${title}`} onClick={() => (renaming.value = true)} />
          {of.status === "archived" ? (
            <Button label="Bring back" aria-label={`Bring back ${title}`} onClick={() => void list.move(of, "active")} />
          ) : (
            <Button label="Archive" aria-label={`Archive ${title}`} onClick={() => void list.move(of, "archived")} />
          )}
          <Button label="Delete" class="quiet dangerous" aria-label={`Delete ${title}`} onClick={() => void list.remove(of)} />
        </div>
      )}
    </li>
  );
}

function Rename({ of, onDone }: { readonly of: Session; readonly onDone: () => void }) {
  const save = (form: HTMLFormElement) => {
    const given = String(new FormData(form).get("title")).trim();
    onDone();
    if (given && given !== of.title) void list.attempt(() => api.change(of.id, { title: given }));
  };
  return (
    <InPlaceForm class="rename" onSent={save} onLeft={onDone}>
      <input name="title" type="text" maxLength={200} defaultValue={titleOf(of)} aria-label="Title" />
      <Submit label="Save" class="secondary" />
    </InPlaceForm>
  );
}

/** A piece of a message around the first word that was searched for. */
function Piece({ content, text }: { readonly content: string; readonly text: string }) {
  const [word = ""] = text.toLowerCase().split(/\s+/);
  const found = content.toLowerCase().indexOf(word);
  const at = Math.max(0, found);
  // Not from within a word.
  const near = content.slice(Math.max(0, at - BEFORE), at);
  const from = at > BEFORE ? at - near.length + near.indexOf(" ") + 1 : 0;
  const quote = found < 0 ? "" : content.slice(at, at + word.length);
  return (
    <span class="small piece" dir="auto">
      {from > 0 && "…"}
      <Marked message={content.slice(from, at + AROUND)} quote={quote} />
    </span>
  );
}

function BinRow({ of }: { readonly of: Session }) {
  const title = titleOf(of);
  return (
    <li class="in-bin" data-session={of.id}>
      <span class="session-title">{title}</span>
      <span class="small">{`Deleted ${when(of.status_since)}${of.expires_at ? ` · gone for good ${when(of.expires_at)}` : ""}`}</span>
      <div class="row actions">
        <Button label="Restore" aria-label={`Restore ${title}`} onClick={() => void list.restore(of)} />
        <Button
          label="Delete for good"
          class="quiet dangerous"
          aria-label={`Delete ${title} for good`}
          onClick={() => void list.purge(of)}
        />
      </div>
    </li>
  );
}
