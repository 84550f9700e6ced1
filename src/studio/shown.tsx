import type { ComponentChildren } from "preact";
import { Facts } from "../web/controls.js";
import { agoOf, countOf, durationOf, momentOf, moneyOf, scoreOf, timeOf, wordsOf } from "./format.js";
import { about } from "./session.js";

/** How single values are shown, everywhere alike. A text is always text: nothing here makes markup of it. */

export const Unknown = () => <span class="unknown">unknown</span>;

interface SaidProps {
  readonly text: string | null;
  /** How long it is, where the server keeps it to itself. */
  readonly chars?: number | null;
}

/** Somebody's words, in whichever direction they are read. */
export function Said({ text, chars = null }: SaidProps) {
  if (text !== null)
    return (
      <span class="said" dir="auto">
        {text}
      </span>
    );
  if (chars === null) return <Unknown />;
  // A server that shows texts keeps this one no longer, or never did.
  const why = about.value?.content === true ? "not kept" : "hidden";
  return (
    <span class="hidden-text">
      {why} · {chars === 1 ? "1 character" : `${countOf(chars)} characters`}
    </span>
  );
}

/** What was said word for word, where anything was. */
export const Quote = (said: SaidProps) =>
  said.text !== null || said.chars !== null ? (
    <blockquote>
      <Said {...said} />
    </blockquote>
  ) : null;

type TalkProps = Readonly<{ message: string | null; message_chars: number | null; answer: string | null; answer_chars: number | null }>;

/** A message and its answer. */
export const Talk = ({ of }: { readonly of: TalkProps }) => (
  <>
    <p class="guest-said">
      <span class="sr">The guest: </span>
      <Said text={of.message} chars={of.message_chars} />
    </p>
    <p>
      <span class="sr">The answer: </span>
      <Said text={of.answer} chars={of.answer_chars} />
    </p>
  </>
);

/** A name, an id or a code, which says nothing of the text around it. */
export function Name({ of }: { readonly of: string | null }) {
  return of === null ? <Unknown /> : <bdi class="name">{of === "" ? "(empty)" : of}</bdi>;
}

/** A code of the server's in words. */
export const Code = ({ of, as = wordsOf }: { readonly of: string | null; readonly as?: (code: string) => string }) =>
  of === null ? <Unknown /> : <bdi>{as(of)}</bdi>;

const FORMS = { count: countOf, duration: durationOf, money: moneyOf, score: scoreOf } as const;
type FigureProps = Readonly<{ of: number | null; as?: keyof typeof FORMS; form?: (value: number) => string; unit?: string }>;

export function Figure({ of, as = "count", form = FORMS[as], unit }: FigureProps) {
  if (of === null) return <Unknown />;
  return (
    <span class="figure">
      {form(of)}
      {unit !== undefined && ` ${unit}`}
    </span>
  );
}

export const YesNo = ({ of }: { readonly of: boolean | null }) => (of === null ? <Unknown /> : of ? "yes" : "no");

/** A moment; `ago` also how long that was. */
export function When({ at, ago = false }: { readonly at: string | null; readonly ago?: boolean }) {
  if (at === null) return <Unknown />;
  const time = timeOf(at);
  if (time === null) return <Name of={at} />;
  return (
    <time dateTime={time.toISOString()} title={momentOf(time)}>
      {ago ? agoOf(time) : momentOf(time)}
    </time>
  );
}

/** States by what they are to whoever looks; any other wants a look. */
const KINDS = {
  good: ["ok", "kept", "used", "confirmed", "succeeded", "done", "answered", "completed", "active", "added", "approved", "edited", "holds"],
  bad: ["failed", "down", "error", "refused", "dead", "dropped", "rejected"],
  open: ["asked", "waits", "pending", "to_confirm", "unsure"],
  neutral: ["empty", "disabled", "archived", "ended", "expired", "none", "superseded", "forgotten", "same", "changed", "cached"],
  firm: ["hard"],
} as const satisfies Record<string, readonly string[]>;
const KIND_OF = new Map<string, string>(Object.entries(KINDS).flatMap(([kind, states]) => states.map((state) => [state, kind] as const)));

/** A state in a word, with a sign for those who see no colours. */
export function State({ of, children }: { readonly of: string | null; readonly children?: ComponentChildren }) {
  if (of === null) return <Unknown />;
  return <span class={`state ${KIND_OF.get(of) ?? "care"}`}>{children ?? <bdi>{wordsOf(of)}</bdi>}</span>;
}

const INSTANT = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/;

/** What has no form of its own: nested lists of names and values. */
export function Anything({ of }: { readonly of: unknown }) {
  if (of === null || of === undefined) return <Unknown />;
  if (typeof of === "boolean") return <YesNo of={of} />;
  if (typeof of === "number") return <Figure of={of} as="score" />;
  if (typeof of === "string") return INSTANT.test(of) ? <When at={of} /> : <Said text={of} />;
  if (Array.isArray(of) && of.length === 0) return <>none</>;
  if (Array.isArray(of))
    return (
      <ul class="plain">
        {of.map((each: unknown, index) => (
          <li key={index}>
            <Anything of={each} />
          </li>
        ))}
      </ul>
    );
  return <Facts of={Object.entries(of).map(([name, value]) => [wordsOf(name), <Anything key={name} of={value} />] as const)} />;
}
