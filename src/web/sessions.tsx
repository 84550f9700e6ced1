import { batch, effect, signal, useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { api } from "./api.js";
import type { Hit, Session } from "./api-types.js";
import { holdsWords, joined, when } from "./format.js";
import { problemOf, wordsFor } from "./problems.js";
import { putAway, titles } from "./stage.js";
import { session as current, running, tell } from "./state.js";
import { ask, Button, byId, InPlaceForm, sending, show, toast, toastProblem } from "./ui.js";

/** The conversations: search, open, rename, archive, delete with a way back; the archived ones, and the bin. */

const PAGE = 30;
/** More than that the server does not give at once. */
const MOST = 200;
const SEARCH_AFTER_MS = 250;
/** From which score on a message is near in meaning; one that only shares a letter or two stays far below. */
const NEAR = 0.5;
/** Conversations that are shown for what was said in them. */
const MAX_FOUND = 15;
/** Characters of a message that are shown before the word that was searched for, at most, and in all. */
const BEFORE = 16;
const AROUND = 90;
const VIEWS = {
  active: { label: "Current", empty: "Your conversations will be listed here." },
  archived: { label: "Archived", empty: "Nothing is archived." },
  deleted: { label: "Bin", empty: "The bin is empty." },
} as const;
type View = keyof typeof VIEWS;

/** `hit`: the best message that fits a search; null where the title does, or none is asked for. */
interface Listed {
  readonly session: Session;
  readonly hit: Hit | null;
}
type Work = () => Promise<unknown>;

const field = () => byId<HTMLInputElement>("session-query");
const view = signal<View>("active");
const listed = signal<readonly Listed[]>([]);
const cursor = signal<string | null>(null);
/** What was searched for. */
const searched = signal("");
/** Why the list could not be read; null where it was. What is listed already stays. */
const problem = signal<string | null>(null);
/** The one whose actions are shown. */
const expanded = signal<string | null>(null);
/** What is being done with one, in words: it may have to wait for an answer that is under way. */
const pending = signal<ReadonlyMap<string, string>>(new Map());
let loads = 0;

const titleOf = ({ title }: Session) => title ?? "New conversation";

async function load(): Promise<void> {
  loads += 1;
  const mine = loads;
  const query = field().value.trim();
  // As many pages as are shown already: the list is read again whenever something happens, and must not fold up then.
  const limit = Math.min(MOST, PAGE * Math.max(1, Math.ceil(listed.value.length / PAGE)));
  const page = query ? { data: [], next_cursor: null } : await api.sessions({ status: view.value, limit });
  const found = query ? await findSessions(query) : page.data.map((session) => ({ session, hit: null }));
  if (mine !== loads) return;
  batch(() => {
    problem.value = null;
    searched.value = query;
    cursor.value = page.next_cursor;
    put(found);
  });
}

function put(found: readonly Listed[]): void {
  listed.value = found;
  titles.value = new Map([...titles.value, ...found.map(({ session }) => [session.id, session.title] as const)]);
}

/** Reads it; where that fails, the list says so and the rest of the page goes on. */
export const listSessions = (): Promise<void> =>
  load().catch((error: unknown) => {
    problem.value = wordsFor(error).title;
  });

/** By their titles first, then by what was said in them. */
async function findSessions(text: string): Promise<readonly Listed[]> {
  const titled = (status: View) => api.sessions({ title: text, limit: 30, status });
  const [active, archived, said] = await Promise.all([titled("active"), titled("archived"), saidWith(text)]);
  const found = new Map<string, Listed>([...active.data, ...archived.data].map((session) => [session.id, { session, hit: null }]));
  const first = new Map(said.toReversed().map((hit) => [hit.session_id, hit]));
  const inOrder = said.filter((hit) => first.get(hit.session_id) === hit && !found.has(hit.session_id)).slice(0, MAX_FOUND);
  const sessions = await Promise.all(inOrder.map((hit) => api.session(hit.session_id).catch(() => null)));
  const there = sessions.flatMap((session, n) => (session && session.status !== "deleted" ? [{ session, hit: inOrder[n] ?? null }] : []));
  return [...found.values(), ...there];
}

/** Nothing where the server keeps no history to search. */
async function saidWith(text: string): Promise<readonly Hit[]> {
  try {
    return (await api.said(text)).filter(({ content, score }) => score >= NEAR || holdsWords(content, text));
  } catch (error) {
    const { code, status } = problemOf(error);
    if (code === "HISTORY_DISABLED" || status === 503) return [];
    throw error;
  }
}

/** Does something, and lists them again. Gives whether it worked; what did not is said. */
async function attempt(work: Work): Promise<boolean> {
  try {
    await work();
    await load();
    tell("sessions", { listed: true });
    return true;
  } catch (error) {
    if (problemOf(error).code === "OFFLINE") toast("That did not go through. Try again when the connection is back.", { error: true });
    else toastProblem(error);
    return false;
  }
}

/** With a sign on the row as long as it takes; the row goes, and its focus to the one beside it, or to the search. */
async function attemptWith({ id }: Session, words: string | null, work: Work): Promise<boolean> {
  const row = document.querySelector(`#session-list [data-session="${id}"]`);
  const beside = row?.nextElementSibling ?? row?.previousElementSibling;
  if (row?.contains(document.activeElement)) (beside?.querySelector("button") ?? field()).focus();
  const rest = () => {
    pending.value = new Map([...pending.value].filter(([each]) => each !== id));
  };
  if (words !== null) pending.value = new Map(pending.value).set(id, words);
  return attempt(() => work().finally(rest));
}

async function move(session: Session, status: "active" | "archived"): Promise<void> {
  const archives = status === "archived";
  const words = archives ? "Archiving it …" : "Bringing it back …";
  if (!(await attemptWith(session, words, () => api.change(session.id, { status })))) return;
  if (session.id === current.value) putAway.value = archives ? session.id : null;
  toast(archives ? `Archived “${titleOf(session)}”.` : `“${titleOf(session)}” is back.`, {
    action: { label: "Undo", run: () => void attempt(() => api.change(session.id, { status: session.status })) },
  });
}

async function remove(session: Session): Promise<void> {
  // Its answer would only be waited for.
  tell("stop", { id: session.id });
  await attemptWith(session, "Moving it to the bin …", async () => {
    await api.remove(session.id);
    if (session.id === current.value) tell("new", {});
    toast(`“${titleOf(session)}” is in the bin.`, {
      action: { label: "Undo", run: () => void attempt(() => api.restore(session.id)) },
    });
  });
}

async function restore(session: Session): Promise<void> {
  if (await attemptWith(session, null, () => api.restore(session.id))) toast(`Restored “${titleOf(session)}”.`);
}

async function purge(session: Session): Promise<void> {
  let keep = true;
  const sure = await ask({
    title: `Delete “${titleOf(session)}” for good?`,
    text: "What was said in it is erased, and can't be brought back.",
    extra: (
      <label class="check">
        <input type="checkbox" defaultChecked onChange={({ currentTarget }) => (keep = currentTarget.checked)} />
        <span>Keep what you learnt about me from it</span>
      </label>
    ),
    confirm: "Delete for good",
    danger: true,
  });
  if (sure === null) return;
  await attemptWith(session, null, () => api.purge(session.id, keep));
  tell("memories", {});
}

/** In an archived conversation nothing can be said: that stands above it, with the way back, as long as it is so. */
export function PutAway() {
  const id = putAway.value;
  if (id === null || id !== current.value) return null;
  const back = async () => {
    if ((await attempt(() => api.change(id, { status: "active" }))) && putAway.value === id) putAway.value = null;
  };
  return (
    <p class="banner put-away" role="status">
      <span>This conversation is archived.</span>
      <Button class="secondary" onClick={() => void back()}>
        Bring back
      </Button>
    </p>
  );
}

export function startSessions(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const relist = () => void attempt(async () => {});
  byId("session-search").addEventListener(
    "submit",
    sending(() => {}),
  );
  field().addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(relist, SEARCH_AFTER_MS);
  });
  byId("more-sessions").addEventListener("click", () => void more().catch(toastProblem));
  effect(() => {
    byId("more-sessions").hidden = cursor.value === null;
  });
  show("session-list", <Rows />);
  show("session-views", <Views relist={relist} />);
}

async function more(): Promise<void> {
  const page = await api.sessions({ status: view.value, limit: PAGE, cursor: cursor.value });
  put([...listed.value, ...page.data.map((session) => ({ session, hit: null }))]);
  cursor.value = page.next_cursor;
}

function Views({ relist }: { readonly relist: () => void }) {
  const look = (name: View) => {
    view.value = name;
    listed.value = [];
    expanded.value = null;
    field().value = "";
    relist();
  };
  return (
    <>
      <legend class="sr">Which conversations are listed</legend>
      {(Object.keys(VIEWS) as View[]).map((name) => (
        <Button key={name} aria-pressed={view.value === name} onClick={() => look(name)}>
          {VIEWS[name].label}
        </Button>
      ))}
    </>
  );
}

function Rows() {
  const lines = linesOf(listed.value.map(({ session }) => session));
  if (listed.value.length > 0)
    return listed.value.map(({ session, hit }) =>
      session.status === "deleted" ? (
        <BinRow key={session.id} of={session} />
      ) : (
        <Row key={session.id} of={session} hit={hit} line={lines.get(session.id) ?? ""} />
      ),
    );
  return (
    <li class="small empty">
      {problem.value === null ? (
        searched.value ? (
          `Nothing fits “${searched.value}”.`
        ) : (
          VIEWS[view.value].empty
        )
      ) : (
        <>
          {problem.value}. <Button onClick={() => void listSessions()}>List them again</Button>
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

interface RowProps {
  readonly of: Session;
  readonly hit: Hit | null;
  readonly line: string;
}

/** One to open, with what can be done about it behind a button. */
function Row({ of, hit, line }: RowProps) {
  const renaming = useSignal(false);
  const open = useRef<HTMLButtonElement>(null);
  const left = useRef(false);
  useLayoutEffect(() => {
    if (left.current) open.current?.focus();
    left.current = false;
  });
  const title = titleOf(of);
  const isCurrent = of.id === current.value;
  const isExpanded = of.id === expanded.value;
  const doing = pending.value.get(of.id);
  const stands = joined([of.status === "archived" && " · archived", of.metadata?.incognito === true && " · temporary"], "");
  if (renaming.value)
    return (
      <li>
        <Rename
          of={of}
          onDone={() => {
            left.current = true;
            expanded.value = null;
            renaming.value = false;
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
          ref={open}
          type="button"
          class="open"
          aria-current={isCurrent}
          onClick={() => tell("open", { id: of.id, message: hit?.id ?? null })}
        >
          <span class="session-title" dir="auto" title={title}>
            {title}
          </span>
          {hit && <Piece content={hit.content} text={searched.value} />}
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
          class="icon options"
          aria-label={`Options for ${title}`}
          aria-expanded={isExpanded}
          disabled={doing !== undefined}
          onClick={() => (expanded.value = isExpanded ? null : of.id)}
        >
          ⋯
        </Button>
      </div>
      {isExpanded && doing === undefined && (
        <div class="row actions">
          <Button aria-label={`Rename ${title}`} onClick={() => (renaming.value = true)}>
            Rename
          </Button>
          {of.status === "archived" ? (
            <Button aria-label={`Bring back ${title}`} onClick={() => void move(of, "active")}>
              Bring back
            </Button>
          ) : (
            <Button aria-label={`Archive ${title}`} onClick={() => void move(of, "archived")}>
              Archive
            </Button>
          )}
          <Button class="quiet dangerous" aria-label={`Delete ${title}`} onClick={() => void remove(of)}>
            Delete
          </Button>
        </div>
      )}
    </li>
  );
}

function Rename({ of, onDone }: { readonly of: Session; readonly onDone: () => void }) {
  const title = useRef<HTMLInputElement>(null);
  const save = () => {
    const given = title.current?.value.trim();
    onDone();
    if (given && given !== of.title) void attempt(() => api.change(of.id, { title: given }));
  };
  return (
    <InPlaceForm class="rename" onSent={save} onLeft={onDone}>
      <input ref={title} type="text" maxLength={200} defaultValue={titleOf(of)} aria-label="Title" />
      <button type="submit" class="secondary">
        Save
      </button>
    </InPlaceForm>
  );
}

/** A piece of a message around the first word that was searched for. */
function Piece({ content, text }: { readonly content: string; readonly text: string }) {
  const [word = ""] = text.split(/\s+/);
  const at = Math.max(0, content.toLowerCase().indexOf(word.toLowerCase()));
  const isThere = content.toLowerCase().startsWith(word.toLowerCase(), at);
  const near = content.slice(Math.max(0, at - BEFORE), at);
  const end = at + (isThere ? word.length : 0);
  return (
    <span class="small piece" dir="auto">
      {/* Not from within a word. */}
      {at > BEFORE ? `…${near.slice(near.indexOf(" ") + 1)}` : near}
      <mark>{content.slice(at, end)}</mark>
      {content.slice(end, at + AROUND)}
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
        <Button aria-label={`Restore ${title}`} onClick={() => void restore(of)}>
          Restore
        </Button>
        <Button class="quiet dangerous" aria-label={`Delete ${title} for good`} onClick={() => void purge(of)}>
          Delete for good
        </Button>
      </div>
    </li>
  );
}
