import { batch, signal } from "@preact/signals";
import { api } from "./api.js";
import type { Hit, Session } from "./api-types.js";
import { holdsWords } from "./format.js";
import { problemOf, wordsFor } from "./problems.js";
import { putAway, titles } from "./stage.js";
import { session as current, tell } from "./state.js";
import { ask, byId, toast, toastProblem } from "./ui.js";

/** The list of conversations, and what can be done with one: each is said, and has a way back as long as there is one. */

const PAGE = 30;
/** More than that the server does not give at once. */
const MOST = 200;
/** From which score on a message is near in meaning; one that only shares a letter or two stays far below. */
const NEAR = 0.5;
/** Conversations that are shown for what was said in them. */
const MAX_FOUND = 15;
export const VIEWS = {
  active: { label: "Current", empty: "Your conversations will be listed here." },
  archived: { label: "Archived", empty: "Nothing is archived." },
  deleted: { label: "Bin", empty: "The bin is empty." },
} as const;
export type View = keyof typeof VIEWS;

/** `hit`: the best message that fits a search; null where the title does, or none is asked for. */
type Listed = Readonly<{ session: Session; hit: Hit | null }>;
type Work = () => Promise<unknown>;

export const field = () => byId<HTMLInputElement>("session-query");
export const view = signal<View>("active");
export const listed = signal<readonly Listed[]>([]);
export const cursor = signal<string | null>(null);
export const searched = signal("");
/** Why the list could not be read; null where it was. What is listed already stays. */
export const problem = signal<string | null>(null);
/** The one whose actions are shown. */
export const expanded = signal<string | null>(null);
/** What is being done with one, in words: it may have to wait for an answer that is under way. */
export const pending = signal<ReadonlyMap<string, string>>(new Map());
let loads = 0;

export const titleOf = ({ title }: Session) => title ?? "New conversation";

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
export async function attempt(work: Work): Promise<boolean> {
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

export async function move(session: Session, status: "active" | "archived"): Promise<void> {
  const archives = status === "archived";
  const words = archives ? "Archiving it …" : "Bringing it back …";
  if (!(await attemptWith(session, words, () => api.change(session.id, { status })))) return;
  if (session.id === current.value) putAway.value = archives ? session.id : null;
  toast(archives ? `Archived “${titleOf(session)}”.` : `“${titleOf(session)}” is back.`, {
    action: { label: "Undo", run: () => void attempt(() => api.change(session.id, { status: session.status })) },
  });
}

export async function remove(session: Session): Promise<void> {
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

export async function restore(session: Session): Promise<void> {
  if (await attemptWith(session, null, () => api.restore(session.id))) toast(`Restored “${titleOf(session)}”.`);
}

export async function purge(session: Session): Promise<void> {
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

export async function more(): Promise<void> {
  const page = await api.sessions({ status: view.value, limit: PAGE, cursor: cursor.value });
  put([...listed.value, ...page.data.map((session) => ({ session, hit: null }))]);
  cursor.value = page.next_cursor;
}
