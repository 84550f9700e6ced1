import { batch, effect, signal } from "@preact/signals";
import { api } from "./api.js";
import type { Thread } from "./api-types.js";
import { takenByServer, toServer } from "./composer.js";
import { Conversation, type ConversationHooks, type Exchange } from "./conversation.js";
import { problemOf, wordsFor } from "./problems.js";
import { incognito, known, memoryIsOn, on, running, session, tell, waiting } from "./state.js";
import { toast, toastProblem } from "./ui.js";

/** What stands in place of a conversation's past: a greeting, that it is being opened, or why it can't be shown. */
export type Notice =
  | { readonly kind: "welcome" }
  | { readonly kind: "opening"; readonly words: string }
  | { readonly kind: "problem"; readonly title: string; readonly text: string; readonly again: (() => void) | null };

/** A conversation that takes longer to be read says that it is being opened. */
const AT_ONCE_MS = 300;
/** One thought each: what is told together is easily kept as one. */
const FIRST_WORDS = ["I prefer jazz concerts", "I need step-free access", "Anything good this weekend?", "A table for two on Saturday"];
const KNOWN_WORDS = [
  "Anything good this weekend?",
  "What do you know about me?",
  "Which bookings do I have?",
  "Somewhere nice to eat tonight",
];
/** What of the first ones was said on this page. */
const saidFirst = new Set<string>();
/** Nothing was known of the guest when the newest conversation began. */
let isNewcomer = false;

const hooks: ConversationHooks = {
  said(conversation, exchange) {
    toServer(conversation.session, conversation.incognito ? null : exchange);
    if (conversation !== shown.value) return;
    // The button that said it is gone soon, or far above.
    const at = document.activeElement;
    const pressed = at === document.body || at?.closest("#log") != null;
    notice.value = null;
    exchange.sight.value = { at: "question", focus: pressed };
  },
  taken: takenByServer,
  begun(conversation) {
    hold(conversation);
    if (conversation === shown.value) showSession({ begun: true });
  },
  ran: hold,
  over(conversation, { turn, ok, failed }) {
    const { session: id, last } = conversation;
    runs(id, false);
    tell("turn", { session: id, turn });
    if (!failed || conversation === shown.value) away.delete(id ?? "");
    if (conversation === shown.value) {
      if (conversation.stale) void refresh(id);
      else if (ok && last) suggestNext(last);
    } else if (ok || failed) {
      const title = `“${titles.value.get(id ?? "") ?? "another conversation"}”`;
      toast(ok ? `Your answer in ${title} is there.` : `There is no answer in ${title}.`, {
        error: !ok,
        action: { label: "Open", run: () => (ok && id !== null ? void open(id) : showLive(conversation)) },
      });
    }
  },
  edited: (conversation) => void (conversation.stale && refresh(conversation.session)),
};

/** By id: those that answer, and those with a message that failed while another one was shown. They are there again as they are. */
const away = new Map<string, Conversation>();
let opens = 0;
/** The conversation that is shown. One that answers goes on behind it. */
export const shown = signal(new Conversation(hooks));
/** Until there is one: it takes a moment. */
export const notice = signal<Notice | null>({ kind: "opening", words: "One moment …" });
/** What conversations are called, of all that were seen: the open one need not be in the list. */
export const titles = signal<ReadonlyMap<string, string | null>>(new Map());
/** The id of an archived conversation that is open: there nothing can be said until it is brought back. */
export const putAway = signal<string | null>(null);

function runs(id: string | null, does: boolean): void {
  const others = [...running.value].filter((each) => each !== id);
  running.value = new Set(does && id !== null ? [...others, id] : others);
}

function hold(conversation: Conversation): void {
  if (conversation.session === null) return;
  away.set(conversation.session, conversation);
  runs(conversation.session, true);
}

/** What a conversation that begins now may begin with. */
export function beginnings(): readonly string[] {
  isNewcomer = (known.peek() ?? 0) === 0;
  return isNewcomer ? FIRST_WORDS : KNOWN_WORDS;
}

/** A newcomer who began with a suggestion finds the others under its answer. */
function suggestNext(exchange: Exchange): void {
  if (!isNewcomer || !FIRST_WORDS.includes(exchange.question.value)) return;
  saidFirst.add(exchange.question.value);
  exchange.next.value = FIRST_WORDS.filter((text) => !saidFirst.has(text));
}

export function startNew(temporary = false): void {
  opens += 1;
  show(new Conversation(hooks, temporary), { kind: "welcome" });
  showSession();
}

/** Opens a stored conversation, at one of its messages where one is named. Gives whether it is there. */
export async function open(id: string, message: string | null = null): Promise<boolean> {
  opens += 1;
  const mine = opens;
  const live = away.get(id);
  if (live) {
    showLive(live);
    return true;
  }
  let before: Conversation | null = null;
  const slow = setTimeout(() => {
    if (mine !== opens) return;
    const title = titles.value.get(id);
    before = showUnread(id, { kind: "opening", words: title ? `Opening “${title}” …` : "One moment …" });
  }, AT_ONCE_MS);
  // What is said in it meanwhile goes there, and what was said before is shown when that is answered.
  const isPast = () => mine !== opens || before?.last !== undefined;
  try {
    const thread = await api.thread(id);
    if (isPast()) return true;
    putAway.value = thread.status === "archived" ? id : null;
    resume(thread, message, before);
    showSession();
    titles.value = new Map(titles.value).set(id, thread.title);
  } catch (error) {
    if (mine === opens && [404, 400].includes(problemOf(error).status)) {
      toastProblem(error);
      return false;
    }
    const text = "What was said here before can't be shown at the moment.";
    if (!isPast()) showUnread(id, { kind: "problem", title: wordsFor(error).title, text, again: () => void open(id, message) });
  } finally {
    clearTimeout(slow);
  }
  return true;
}

/** Nothing of it is there yet; what is said goes there all the same. */
function showUnread(id: string, why: Notice): Conversation {
  const conversation = new Conversation(hooks);
  conversation.session = id;
  conversation.stale = true;
  show(conversation, why);
  showSession();
  return conversation;
}

/** The conversation was gone on with elsewhere, and is open here. */
export async function refresh(id: string | null, turn?: number): Promise<void> {
  const before = shown.value;
  if (id === null || id !== before.session || (before.busy.value && before.last?.turn === turn)) return;
  before.stale = true;
  const isWorkedIn = () => before.busy.value || before.editing;
  if (isWorkedIn()) return;
  const thread = await api.thread(id).catch(() => null);
  if (thread && before === shown.value && !isWorkedIn()) resume(thread, null, before);
}

/** One that was there all the time. */
function showLive(conversation: Conversation): void {
  opens += 1;
  show(conversation, null);
  showSession({ live: true });
  if (conversation.busy.value) return;
  away.delete(conversation.session ?? "");
  void refresh(conversation.session);
}

/** `before`: the view of it that was shown until now. */
function resume(thread: Thread, message: string | null, before: Conversation | null): void {
  const conversation = new Conversation(hooks, thread.metadata?.incognito === true);
  conversation.resume(thread);
  if (before) conversation.takeOver(before, thread);
  const exchanges = conversation.exchanges.value;
  const named = message === null ? undefined : exchanges.find(({ userId, answerId }) => [userId, answerId].includes(message));
  if (named) named.sight.value = { at: "message", focus: true };
  else if (message === null && conversation.last) conversation.last.sight.value = { at: "question", focus: false };
  show(conversation, null);
  conversation.goOn();
  conversation.settle(waiting.value);
  if (memoryIsOn() && !conversation.incognito) void showLearnt(conversation);
}

async function showLearnt(conversation: Conversation): Promise<void> {
  const given = await api.memories({ session_id: conversation.session, limit: 200 }).catch(() => null);
  if (given) conversation.learnt(given.data);
}

function show(conversation: Conversation, why: Notice | null): void {
  batch(() => {
    shown.value = conversation;
    notice.value = why;
  });
}

function showSession({ begun = false, live = false } = {}): void {
  session.value = shown.value.session;
  incognito.value = shown.value.incognito;
  tell("session", { begun, live });
}

on("stop", ({ id }) => away.get(id)?.stop());
on("connection", ({ up }) => {
  if (up && notice.value?.kind === "problem") notice.value.again?.();
});
// Only what waits is looked at: what this changes in the conversation is no reason to look again.
effect(() => {
  const open = waiting.value;
  queueMicrotask(() => shown.value.settle(open));
});
