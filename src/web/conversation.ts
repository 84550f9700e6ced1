// Over 300 lines: a conversation and its exchanges say what the other may do.
import { computed, type Signal, signal } from "@preact/signals";
import { api, freshKey } from "./api.js";
import type { Answer, AnswerMemory, Fields, GivenElement, Memory, Part, Step, Thread, Waiting } from "./api-types.js";
import { forThisTab } from "./browser-store.js";
import { wordsOf } from "./format.js";
import { type Problem, problemOf } from "./problems.js";
import { me, memoryIsOn, paused, tell } from "./state.js";
import { type Attempt, runTurn } from "./turn-run.js";
import { toast } from "./ui.js";

/** An element of an answer; `data`: its content as an object, null where that is text. */
export type ShownElement = GivenElement & Readonly<{ data: Fields | null }>;

function readElement(element: GivenElement): ShownElement {
  let data: unknown = null;
  try {
    data = JSON.parse(element.content);
  } catch {
    // Text, not JSON.
  }
  return { ...element, data: data !== null && typeof data === "object" && !Array.isArray(data) ? (data as Fields) : null };
}

/** How an event suits what is known: each mark belongs to a memory. */
export type FitMark = Readonly<{ memory_id?: unknown; label: string; met?: unknown }>;
export const marksOf = (data: Fields | null): readonly FitMark[] =>
  Array.isArray(data?.fit) ? data.fit.filter((mark: Partial<FitMark> | null) => typeof mark?.label === "string") : [];

/** How it stands with an answer, below what is there of it. */
export type AnswerState =
  | { readonly kind: "waiting"; readonly word: string }
  /** It is not whole, and why; `now`: the guest has just stopped it. */
  | { readonly kind: "ended"; readonly words: string; readonly now: boolean }
  | { readonly kind: "failed"; readonly error: Problem };

/** What is asked under an answer; `told`: what became of it. */
export type Asked = Readonly<{ of: Waiting; told: Signal<string | null> }>;

/** Where the reader is to be: at the question, or at a message; with the focus, where a button was pressed for it. */
export type Sight = Readonly<{ at: "question" | "message"; focus: boolean }>;

/** A turn that failed in one view of its conversation. */
type Unsent = Readonly<{ question: string; attempt: Attempt; error: Problem }>;

type StartedTurn = Readonly<{ session_id: string; user_message_id: string; turn: number }>;
type PlacedPart = Readonly<{ index: number; part: Part; elements: readonly GivenElement[] }>;

const textIn = (parts: readonly Part[]) => parts.map((part) => (part.type === "text" ? part.text : "")).join("");

/** A question and its answer. The last one of a conversation can be said differently, asked again, stopped and tried again. */
export class Exchange {
  /** Empty where there is only an answer. */
  readonly question = signal("");
  /** In the order in which they came. */
  readonly parts = signal<readonly Part[]>([]);
  readonly elements = signal<ReadonlyMap<string, ShownElement>>(new Map());
  readonly steps = signal<readonly Step[]>([]);
  /** What the answer was given and what shaped it, where that is known. */
  readonly memory = signal<AnswerMemory | null>(null);
  /** Of which memory the reason is looked at, by its id. */
  readonly reason = signal<{ readonly memory: string; readonly open: boolean } | null>(null);
  /** What waits for the guest's word. */
  readonly asked = signal<readonly Asked[]>([]);
  /** What this turn added to the memories. */
  readonly noted = signal<readonly Memory[]>([]);
  readonly state = signal<AnswerState | null>(null);
  /** All of the answer's parts are there; `complete`: and it is whole. */
  readonly given = signal(false);
  readonly complete = signal(false);
  readonly busy = signal(false);
  /** The question is being said differently. */
  readonly editing = signal(false);
  readonly sight = signal<Sight | null>(null);
  /** What else there is to begin with. */
  readonly next = signal<readonly string[]>([]);
  readonly isLast = computed(() => this.talk.exchanges.value.at(-1) === this);
  /** Whether it shows anything beside its words. */
  readonly shows = computed(() => this.parts.value.some(({ type }) => type !== "text" && type !== "question"));
  #attempt: Attempt | null = null;
  /** Why the last attempt failed; null where it did not. */
  #failure: Problem | null = null;
  #abort: AbortController | null = null;
  /** All that was said so far; it is shown with the next frame. */
  #text = "";
  #frame = 0;
  /** Of the user's message; null until the server has it. */
  userId: string | null = null;
  answerId: string | null = null;
  /** Its number in the conversation; undefined until the server has begun it. */
  turn: number | undefined;
  /** How a stored turn ended that has no whole answer. */
  outcome: "interrupted" | "failed" | null = null;

  constructor(
    readonly talk: Conversation,
    question: string,
  ) {
    this.question.value = question;
  }

  get content(): string {
    return textIn(this.parts.value);
  }

  stop(): void {
    this.#abort?.abort();
  }

  /** What was said and failed, where the stored thread does not have it; null where nothing is lost. */
  unsentIn(thread: Thread): Unsent | null {
    if (this.#failure === null || this.#attempt === null || this.busy.value) return null;
    const { edit_of: edited, ...body } = this.#attempt.body;
    // Before the server has other words, the message is the one that they were to replace.
    if (this.userId !== edited && thread.steps.some(({ id }) => id === this.userId)) return null;
    const attempt = edited === undefined ? this.#attempt : { body, key: freshKey() };
    return { question: this.question.value, attempt, error: this.#failure };
  }

  /** One that failed in another view of this conversation. */
  showFailed({ attempt, error }: Unsent): void {
    this.#attempt = attempt;
    this.#failed(error);
  }

  /** One that was under way when the page was loaded anew: the same under the same key. */
  goOn(attempt: Attempt): void {
    this.#attempt = attempt;
    void this.#run(attempt);
  }

  #failed(error: Problem): void {
    this.#failure = error;
    if (error.code === "EDIT_NOT_LAST") this.talk.stale = true;
    this.#show();
    this.state.value = { kind: "failed", error };
  }

  /** After a failure: the same under the same key. After an answer, or in other words: in place of what was said. */
  again(question?: string): void {
    if (this.talk.busy.value) return;
    if (question === undefined && this.#failure !== null && this.#attempt !== null) return void this.#run(this.#attempt);
    if (question !== undefined) this.question.value = question;
    this.send(this.userId === null ? {} : { edit_of: this.userId });
  }

  /** Sends it, with `more` fields of the request's body. */
  send(more: object = {}): void {
    const { session, incognito } = this.talk;
    const body = {
      message: this.question.value,
      stream: true,
      channel: "page",
      ...(session !== null && { session_id: session }),
      ...((incognito || paused.value) && { incognito: true }),
      ...more,
    };
    this.#attempt = { body, key: freshKey() };
    void this.#run(this.#attempt);
  }

  /** While memory is paused a conversation is kept all the same: begun by an incognito turn, it would be temporary as a whole. */
  async #openKept(attempt: Attempt): Promise<Attempt> {
    const { body, key } = attempt;
    if (!body.incognito || body.session_id || this.talk.incognito) return attempt;
    this.#attempt = { key, body: { ...body, session_id: (await api.begin(key)).id } };
    return this.#attempt;
  }

  async #run(given: Attempt): Promise<void> {
    const abort = new AbortController();
    const before = this.talk.session;
    this.#abort = abort;
    this.#failure = null;
    this.turn = undefined;
    this.#clear();
    this.#waits();
    this.busy.value = true;
    this.talk.hooks.ran(this.talk);
    let answer: Answer | null = null;
    try {
      const attempt = await this.#openKept(given);
      answer = await runTurn(attempt, abort.signal, {
        onEvent: (event, data) => this.#onEvent(event, data, before),
        onLost: () => this.#waits("I wait for the connection …"),
        onQuiet: () => this.#waits("It has gone quiet. I look for your answer …"),
        onBack: () => this.#waits(),
        onAgain: () => {
          this.#clear();
          this.#waits();
        },
      });
      if (answer === null) this.#ended("You stopped this answer.", true);
      else this.#answered(answer);
    } catch (error) {
      this.#failed(problemOf(error));
    }
    this.#abort = null;
    this.busy.value = false;
    underWay.end(this.talk.session);
    // Its number also without an answer: so the event about it is known to be this page's own.
    this.talk.hooks.over(this.talk, { turn: this.turn, ok: answer !== null, failed: this.#failure !== null });
    if (answer !== null) void this.#learn(answer);
  }

  #onEvent(event: string, data: unknown, before: string | null): void {
    if (event === "session") {
      const { session_id: session, user_message_id: message, turn } = data as StartedTurn;
      this.userId = message;
      this.turn = turn;
      this.talk.begun(session);
      if (!this.talk.incognito && this.#attempt) underWay.begin(session, { attempt: this.#attempt, userId: message });
      this.talk.hooks.taken(before);
    } else if (event === "memory") this.memory.value = data as AnswerMemory;
    else if (event === "step") {
      const step = data as Step;
      this.steps.value = [...this.steps.value, step];
      if (this.state.value?.kind === "waiting") this.#waits(`${wordsOf(step.name ?? "looking")} …`);
    } else if (event === "part") this.#put(data as PlacedPart);
    else if (event === "token") this.#say(this.#text + (data as { delta: string }).delta);
    else if (event === "retract") this.#say((data as { content: string }).content);
  }

  #waits(word = "Thinking"): void {
    this.state.value = { kind: "waiting", word };
  }

  #clear(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#text = "";
    for (const list of [this.parts, this.steps, this.asked, this.noted, this.next]) list.value = [];
    this.elements.value = new Map();
    this.memory.value = null;
    this.reason.value = null;
    this.state.value = null;
    this.given.value = false;
    this.complete.value = false;
  }

  /** `text`: all that was said so far. What comes after the last thing shown grows, or is taken back. */
  #say(text: string): void {
    this.#text = text;
    this.#frame ||= requestAnimationFrame(() => this.#show());
  }

  #show(): void {
    if (this.#frame === 0) return;
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const parts = this.parts.value;
    const shown = parts.slice(0, parts.findLastIndex(({ type }) => type !== "text") + 1);
    const rest = this.#text.slice(textIn(shown).length);
    this.parts.value = rest === "" ? shown : [...shown, { type: "text", text: rest }];
  }

  /** One that shows something, as soon as it is known. */
  #put({ index, part, elements }: PlacedPart): void {
    this.#show();
    this.elements.value = new Map([...this.elements.value, ...elements.map((each) => [each.id, readElement(each)] as const)]);
    this.parts.value = this.parts.value.toSpliced(index, 1, part);
  }

  #all(parts: readonly Part[], elements: readonly GivenElement[], memory: AnswerMemory | null): void {
    this.#show();
    this.elements.value = new Map(elements.map((each) => [each.id, readElement(each)]));
    this.parts.value = parts;
    this.memory.value = memory;
    this.given.value = true;
    this.ask(memory?.to_confirm ?? []);
  }

  #answered({ session_id: session, turn, message, parts, elements, memory }: Answer): void {
    this.talk.begun(session);
    this.turn = turn;
    this.answerId = message.id;
    this.#all(parts, elements, memory);
    this.#done();
  }

  #done(): void {
    this.state.value = null;
    this.complete.value = true;
  }

  #ended(words: string, now = false): void {
    this.#show();
    this.state.value = { kind: "ended", words, now };
  }

  ask(waiting: readonly Waiting[]): void {
    const fresh = waiting.filter(({ id }) => !this.asked.value.some(({ of }) => of.id === id));
    if (fresh.length > 0) this.asked.value = [...this.asked.value, ...fresh.map((of) => ({ of, told: signal<string | null>(null) }))];
  }

  /** A stored answer, with the steps that led to it. */
  fill(step: Thread["steps"][number], steps: readonly Step[], elements: readonly GivenElement[]): void {
    // An attempt that was broken off and the one after it answer the same message: the last one counts.
    this.#clear();
    this.answerId = step.id;
    this.outcome = step.outcome ?? null;
    this.steps.value = steps;
    this.#all(step.parts ?? [{ type: "text", text: String(step.output) }], elements, step.memory ?? null);
    if (this.outcome === null) this.#done();
  }

  /** A stored turn may be without a whole answer: stopped by the guest, by a reload, by a phone that fell asleep. */
  tellUnanswered(): void {
    if (this.outcome === "interrupted") this.#ended("This answer was stopped.");
    else if (!this.complete.value) this.#ended("This was not answered.");
  }

  /** What the turn gave to memory is named once it is written. */
  async #learn({ session_id: session, turn, memory }: Answer): Promise<void> {
    if (memory.write_back !== "pending" || !memoryIsOn()) return;
    const attempt = this.#attempt;
    try {
      await api.flush(session);
      const { data } = await api.memories({ session_id: session, turn, limit: 100 });
      // Said differently meanwhile: it is not this answer's any more.
      if (attempt === this.#attempt) this.learnt(data);
      tell("memories", {});
    } catch {
      // The answer stands; the panel shows the state of the memory when it is opened.
    }
  }

  learnt(memories: readonly Memory[]): void {
    const fresh = memories.filter(({ id, status }) => status === "active" && !this.noted.value.some((each) => each.id === id));
    this.noted.value = [...this.noted.value, ...fresh];
  }
}

/** What whoever shows conversations is told of one. */
export interface ConversationHooks {
  /** Something is said; `taken`: the server has it, said in that conversation, null for a new one. */
  said(conversation: Conversation, exchange: Exchange): void;
  taken(session: string | null): void;
  begun(conversation: Conversation): void;
  ran(conversation: Conversation): void;
  over(conversation: Conversation, how: { readonly turn: number | undefined; readonly ok: boolean; readonly failed: boolean }): void;
  /** The form of the last message is closed. */
  edited(conversation: Conversation): void;
}

/** One conversation: its questions and answers. It lives on while it answers, shown or not. */
export class Conversation {
  readonly exchanges = signal<readonly Exchange[]>([]);
  readonly busy = computed(() => this.exchanges.value.some((exchange) => exchange.busy.value));
  /** Ids of bookings that are cancelled by now: they are struck wherever they are shown. */
  readonly cancelled = computed(() => {
    const elements = this.exchanges.value.flatMap((exchange) => [...exchange.elements.value.values()]);
    return new Set<unknown>(elements.flatMap(({ data }) => (data?.status === "cancelled" && data.booking_id ? [data.booking_id] : [])));
  });
  session: string | null = null;
  /** Something was said in it elsewhere that is not shown yet. */
  stale = false;

  constructor(
    readonly hooks: ConversationHooks,
    readonly incognito = false,
  ) {}

  get last(): Exchange | undefined {
    return this.exchanges.value.at(-1);
  }

  /** The last message is being changed just now. */
  get editing(): boolean {
    return this.last?.editing.value === true;
  }

  stop(): void {
    this.last?.stop();
  }

  /** `more`: further fields of the request, as a button gives them. */
  say(message: string, more: object = {}): void {
    if (this.busy.value) {
      toast("I am still answering. Press it again when the answer is there.");
      return;
    }
    const exchange = this.#add(message);
    this.hooks.said(this, exchange);
    exchange.send(more);
  }

  #add(question: string): Exchange {
    const exchange = new Exchange(this, question);
    // What was being changed, offered or to be tried again is answered by whatever is said now.
    for (const each of this.exchanges.value) each.editing.value = false;
    this.exchanges.value = [...this.exchanges.value, exchange];
    return exchange;
  }

  begun(id: string): void {
    if (this.session === id) return;
    this.session = id;
    this.hooks.begun(this);
  }

  /** Shows a stored thread again. */
  resume(thread: Thread): void {
    this.session = thread.id;
    let steps: Step[] = [];
    let open: Exchange | null = null;
    for (const step of thread.steps) {
      if (step.type === "tool_call") steps.push(step);
      else if (step.type === "user_message") {
        open = this.#add(String(step.output));
        open.userId = step.id;
      } else {
        const again: Exchange | undefined = this.last?.outcome ? this.last : undefined;
        const elements = thread.elements.filter((element) => element.for_id === step.id);
        (open ?? again ?? this.#add("")).fill(step, steps, elements);
        steps = [];
        open = null;
      }
    }
    for (const exchange of this.exchanges.value) exchange.tellUnanswered();
  }

  /** The last answer was under way when the page was loaded anew. */
  goOn(): void {
    const begun = underWay.of(this.session);
    const { last } = this;
    const answered = last !== undefined && last.answerId !== null && last.outcome === null;
    if (begun && last?.userId === begun.userId && !answered) last.goOn(begun.attempt);
    else underWay.end(this.session);
  }

  /** What was said in another view of it, and has not reached the server, is said here still, with its way to try again. */
  takeOver(other: Conversation, thread: Thread): void {
    const unsent = other.last?.unsentIn(thread);
    if (unsent) this.#add(unsent.question).showFailed(unsent);
  }

  /** What the stored turns gave to memory, under their answers. */
  learnt(memories: readonly Memory[]): void {
    for (const exchange of this.exchanges.value)
      exchange.learnt(memories.filter(({ source }) => source && source.message_id === exchange.userId));
  }

  /** What waits for the guest's word: questions that are answered go, and what no answer has asked stands under the last one. */
  settle(waiting: ReadonlyMap<string, Waiting>): void {
    const asked = new Set(this.exchanges.value.flatMap((exchange) => exchange.asked.value.map(({ of }) => of.id)));
    const mine = [...waiting.values()].filter(({ session }) => this.session !== null && session === this.session);
    this.last?.ask(mine.filter(({ id }) => !asked.has(id)));
    const seen = new Set<string>();
    for (const exchange of this.exchanges.value.toReversed()) {
      const open = exchange.asked.value.filter(({ of, told }) => told.value !== null || (waiting.has(of.id) && !seen.has(of.id)));
      for (const { of, told } of open) if (told.value === null) seen.add(of.id);
      if (open.length < exchange.asked.value.length) exchange.asked.value = open;
    }
  }
}

/** After that nobody waits for an answer any more: it is shown as stopped, and the guest may ask again. */
const SOON_MS = 10 * 60_000;
const underWayKey = (session: string | null) => `maitred.turn.${me.value?.user.id ?? ""}.${session}`;

interface Begun {
  readonly attempt: Attempt;
  /** Of the message that it answers. */
  readonly userId: string;
}

/**
 * The turns that this tab has under way, by conversation. Loading the page anew ends them on the server; there they are run again, each
 * under its own key, so that nothing is done twice.
 */
const underWay = {
  begin: (session: string, begun: Begun) => forThisTab.set(underWayKey(session), JSON.stringify({ ...begun, at: Date.now() })),
  end: (session: string | null) => forThisTab.remove(underWayKey(session)),
  /** Null where there is none, or none that is still waited for. */
  of(session: string | null): Begun | null {
    const kept = JSON.parse(forThisTab.get(underWayKey(session)) ?? "null") as (Begun & { readonly at: number }) | null;
    return kept && Date.now() - kept.at < SOON_MS ? kept : null;
  },
};
