import { useSignal } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { Because, StepView } from "./because.js";
import { forGood } from "./browser-store.js";
import { Parts } from "./cards.js";
import { MAX_CHARS } from "./composer.js";
import { Confirm } from "./confirm.js";
import { Button, Failure } from "./controls.js";
import type { AnswerState, Exchange, Sight } from "./conversation.js";
import { forgetWithUndo } from "./memories.js";
import { wordsFor } from "./problems.js";
import { PutAway } from "./sessions.js";
import { beginnings, type Notice, notice, shown } from "./stage.js";
import { incognito, me } from "./state.js";
import { byId, InPlaceForm, ifLost, Said, TalkContext, Toggle, toast, useFocus, useInPlace } from "./ui.js";

/** The conversation: questions and answers, from the first sign of one to what came of it. */

const STAND_IN_SAID = "maitred.stand-in-said";
const MEMORY_NOTES: Readonly<Record<string, string>> = {
  timeout: "My memory was slow: I answered with what arrived in time.",
  degraded: "My memory is out of reach: I answered from this conversation alone.",
};

export function Log() {
  const conversation = shown.value;
  return (
    <TalkContext.Provider value={conversation}>
      <PutAway />
      {notice.value && <NoticeView of={notice.value} />}
      <div class="thread" key={conversation}>
        {conversation.exchanges.value.map((exchange, index) => (
          <ExchangeView key={index} of={exchange} />
        ))}
      </div>
    </TalkContext.Provider>
  );
}

function NoticeView({ of }: { readonly of: Notice }) {
  if (of.kind === "welcome") return <Welcome />;
  if (of.kind === "problem") return <Failure title={of.title} hint={of.text} again={of.again} />;
  return (
    <p class="opening small" role="status">
      {of.words}
    </p>
  );
}

function greeting(): string {
  const hour = new Date().getHours();
  const name = me.value?.user.display_name?.split(" ")[0];
  const part = hour < 5 || hour >= 18 ? "evening" : hour < 12 ? "morning" : "afternoon";
  return `Good ${part}${name ? `, ${name}` : ""}.`;
}

/** What is there before anything is said. */
function Welcome() {
  const { model, long_term: memory } = me.value?.server ?? {};
  const promise = incognito.value
    ? "This is a temporary chat: nothing of it is kept in mind, and nothing I know of you is used."
    : memory?.enabled === false
      ? "Ask for a concert, a play, a match or a table."
      : "Tell me what you like and what must never go wrong. I keep it in mind, show you when I use it, and you decide what stays.";
  // As it was when the guest came: what they see stays while they read it.
  const words = useMemo(beginnings, []);
  // Said once, in the first conversation that this browser opens.
  const standIn = useMemo(() => model?.stand_in === true && !forGood.get(STAND_IN_SAID), []);
  if (standIn) forGood.set(STAND_IN_SAID, "1");
  return (
    <div class="welcome">
      <h2>{greeting()}</h2>
      <p>{promise}</p>
      <Suggestions words={words} />
      {standIn && <p class="small stand-in">You are talking to a simple stand-in, not to a language model: plain requests work best.</p>}
    </div>
  );
}

function Suggestions({ words, look = "suggestions" }: { readonly words: readonly string[]; readonly look?: string }) {
  return (
    <div class={look}>
      {words.map((text) => (
        <Button label={text} key={text} class="suggestion" onClick={() => shown.value.say(text)} />
      ))}
    </div>
  );
}

/** Only the conversation scrolls, never the page around it. */
function bring(node: HTMLElement, { focus }: Sight): void {
  const log = byId("log");
  log.scrollTop += node.getBoundingClientRect().top - log.getBoundingClientRect().top;
  if (!focus) return;
  node.tabIndex = -1;
  node.focus({ preventScroll: true });
}

function ExchangeView({ of }: { readonly of: Exchange }) {
  const node = useRef<HTMLElement>(null);
  const { sight, question, isLast, next } = of;
  const { value: seen } = sight;
  // The question at the top: there is always room for it, as the newest exchange is as high as the view.
  useLayoutEffect(() => {
    if (seen && node.current) bring(node.current, seen);
  }, [seen]);
  const said = seen?.focus && seen.at === "question";
  return (
    <section ref={node} class={`exchange${isLast.value ? " latest" : ""}${said ? " said" : ""}`}>
      {question.value && <Question of={of} />}
      <Answer of={of} />
      {isLast.value && next.value.length > 0 && <Suggestions words={next.value} look="suggestions next" />}
    </section>
  );
}

function Question({ of }: { readonly of: Exchange }) {
  const { question, editing, isLast, talk } = of;
  const { ref, leave } = useInPlace(editing);
  const left = () => {
    leave();
    talk.hooks.edited(talk);
  };
  const send = (form: HTMLFormElement) => {
    const said = String(new FormData(form).get("message")).trim();
    left();
    if (said) of.again(said);
  };
  return (
    <article class="turn user" aria-label="You">
      {editing.value ? (
        <InPlaceForm class="edit" send="Send again" onSent={send} onLeft={left}>
          <textarea name="message" aria-label="Your message" rows={3} maxLength={MAX_CHARS} dir="auto" defaultValue={question.value} />
        </InPlaceForm>
      ) : (
        <>
          <Said as="div" class="bubble" of={question} />
          <div class="bubble-bar">
            {isLast.value && !talk.busy.value && (
              <Button label="Edit" ref={ref} aria-label="Edit and send again" onClick={() => (editing.value = true)} />
            )}
          </div>
        </>
      )}
    </article>
  );
}

function Answer({ of }: { readonly of: Exchange }) {
  const { memory, given, shows, asked, noted, state, complete } = of;
  const status = memory.value?.status ?? "";
  // A slow memory matters to what was chosen for the guest, and to who asked for it.
  const note = (status !== "timeout" || (given.value && shows.value)) && MEMORY_NOTES[status];
  return (
    <article class={complete.value ? "turn assistant complete" : "turn assistant"} aria-label="Maitred">
      <h2 class="sr">Answer</h2>
      <div>
        {memory.value && <Because of={of} memory={memory.value} />}
        {note && <p class="small warn">{note}</p>}
      </div>
      <Parts of={of} />
      <div class="to-confirm">
        {asked.value.map((each) => (
          <Confirm
            key={each.of.id}
            of={each.of}
            told={each.told}
            onGone={() => (asked.value = asked.value.filter((other) => other !== each))}
          />
        ))}
      </div>
      <div class="noted-list">
        {noted.value.map((each) => (
          <Noted key={each.id} of={each} />
        ))}
      </div>
      <div class="answer-state">{state.value && <State of={state.value} exchange={of} />}</div>
      <Bar of={of} />
    </article>
  );
}

function Noted({ of }: { readonly of: { readonly id: string; readonly text: string } }) {
  const gone = useSignal(false);
  const line = useRef<HTMLParagraphElement>(null);
  const forget = () => {
    gone.value = true;
    line.current?.focus();
    forgetWithUndo(of, () => (gone.value = false));
  };
  return (
    <p ref={line} class={gone.value ? "noted row gone" : "noted row"} tabIndex={-1}>
      <span dir="auto">Noted: {of.text}</span>
      <Button label="Forget" aria-label={`Forget: ${of.text}`} hidden={gone.value} onClick={forget} />
    </p>
  );
}

function State({ of, exchange }: { readonly of: AnswerState; readonly exchange: Exchange }) {
  const { value: isLast } = exchange.isLast;
  const again = () => exchange.again();
  if (of.kind === "failed") return <Failure {...wordsFor(of.error)} again={isLast ? again : null} />;
  if (of.kind === "ended") return <Ended of={of} again={isLast ? again : null} />;
  return (
    <p class="typing row">
      <i />
      <i />
      <i />
      <span class="small">{of.word}</span>
    </p>
  );
}

type EndedProps = Readonly<{ of: Extract<AnswerState, { kind: "ended" }>; again: (() => void) | null }>;

/** Whoever stopped it is left with what says so, where the pressed button is gone. */
const Ended = ({ of: { words, now }, again }: EndedProps) => (
  <p ref={useFocus<HTMLParagraphElement>(now, ifLost)} class="ended row" role="status" tabIndex={-1}>
    <span>{words}</span>
    {again && <Button label="Ask again" class="secondary" onClick={again} />}
  </p>
);

async function copy(text: string): Promise<void> {
  try {
    // Browsers have it only where the page came by HTTPS or from this machine.
    await navigator.clipboard.writeText(text);
    toast("Copied.");
  } catch {
    toast("This browser doesn't let me copy. Select the text instead.", { error: true });
  }
}

/** What can be done with an answer, and "How I found this": what was looked up and done for it, in words. */
function Bar({ of }: { readonly of: Exchange }) {
  const { parts, steps, busy, complete, isLast, talk } = of;
  const open = useSignal(false);
  const free = !busy.value && !talk.busy.value && isLast.value && complete.value && of.userId !== null;
  const isThere = parts.value.some(({ type }) => type === "text");
  return (
    <>
      <div class="answer-bar row">
        {!busy.value && isThere && <Button label="Copy" onClick={() => void copy(of.content)} />}
        {free && <Button label="Ask again" onClick={() => of.again()} />}
        {!busy.value && steps.value.length > 0 && <Toggle of={open} label="How I found this" />}
      </div>
      <ul class="steps" hidden={!open.value}>
        {steps.value.map((step, index) => (
          <StepView key={index} of={step} />
        ))}
      </ul>
    </>
  );
}
