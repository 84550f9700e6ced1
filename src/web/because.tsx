import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { api } from "./api.js";
import type { AnswerMemory, Recalled, Step } from "./api-types.js";
import { Button } from "./controls.js";
import { type Exchange, marksOf } from "./conversation.js";
import { companionOf, wordsOf } from "./format.js";
import { forgetWithUndo } from "./memories.js";
import { EditMemory, Reason } from "./memory-row.js";
import { problemOf } from "./problems.js";
import { Said, Toggle, useFocus } from "./ui.js";
import { useAnswer } from "./use-answer.js";

/** "Because you told me": what an answer went by, each with the guest's own words behind it, to be changed or forgotten. */

const AT_ONCE = 4;

/** In the middle of a sentence, with who it is about where the text doesn't name them itself. */
function pillText(memory: Recalled): string {
  const { text } = memory;
  const who = companionOf(memory);
  const lower = /^\p{Lu}\p{Lu}/u.test(text) ? text : text.charAt(0).toLowerCase() + text.slice(1);
  return who === null || text.toLowerCase().includes(who.toLowerCase()) ? lower : `${who}: ${lower}`;
}

/** What a card's marks are tied to comes first, then what must hold. */
function byWeight<M extends Partial<Recalled>>(memories: readonly M[], tied: ReadonlySet<unknown>): readonly M[] {
  const weight = ({ id, strength }: M) => (tied.has(id) ? 2 : 0) + (strength === "hard" ? 1 : 0);
  return memories.toSorted((a, b) => weight(b) - weight(a));
}

/** What became of a memory since the answer was given. */
type Change = Readonly<{ text?: string; gone?: boolean }>;
type Named = Partial<Recalled> & { readonly id: string };
type Found = ReadonlyMap<string, Recalled | null>;

/** What shaped the answer; behind a button what else was known. */
export function Because({ of, memory: { recalled = [], used = [] } }: { readonly of: Exchange; readonly memory: AnswerMemory }) {
  const all = useSignal(false);
  const also = useSignal(false);
  const changes = useSignal<ReadonlyMap<string, Change>>(new Map());
  /** What was checked beside what was recalled: an answer names it by its id. Null where it is gone. */
  const lookedUp = useSignal<Found>(new Map());
  const known: Found = new Map([...lookedUp.value, ...recalled.map((memory) => [memory.id, memory] as const)]);
  const missing = used.filter((id) => !known.has(id));
  useEffect(() => {
    const found = (id: string, memory: Recalled | null) => {
      lookedUp.value = new Map(lookedUp.value).set(id, memory);
    };
    for (const id of missing)
      api.why(id).then(
        ({ memory }) => found(id, memory),
        () => found(id, null),
      );
  }, [missing.join()]);
  const others = recalled.filter(({ id }) => !used.includes(id));
  if (used.length === 0 && others.length === 0) return null;
  const marks = [...of.elements.value.values()].flatMap(({ data }) => marksOf(data));
  const there = used.flatMap((id): Named[] => (known.get(id) === null ? [] : [known.get(id) ?? { id }]));
  const shaping = byWeight(there, new Set(marks.map((mark) => mark.memory_id)));
  const { reason } = of;
  const wanted = reason.value;
  const isAll = all.value || shaping.length <= AT_ONCE || shaping.slice(AT_ONCE).some(({ id }) => id === wanted?.memory);
  const shown = isAll ? shaping : shaping.slice(0, AT_ONCE);
  const beside = also.value ? byWeight<Named>(others, new Set()) : [];
  const open = wanted?.open ? [...shown, ...beside].find(({ id }) => id === wanted.memory) : undefined;
  const pillOf = (memory: Named) => <Pill key={memory.id} of={memory} change={changes.value.get(memory.id)} reason={reason} />;
  const showRest = () => {
    all.value = true;
    reason.value = { memory: shaping[AT_ONCE]?.id ?? "", open: false };
  };
  return (
    <div class="because">
      <div class="because-row row">
        {used.length > 0 && <span class="because-label">Because you told me</span>}
        {shown.map(pillOf)}
        {!isAll && <Button label={`${shaping.length - AT_ONCE} more`} class="quiet more" onClick={showRest} />}
        {others.length > 0 && <Toggle of={also} label={`Also known: ${others.length}`} class="quiet also-known" />}
        {beside.map(pillOf)}
      </div>
      <div class="because-detail" hidden={open === undefined}>
        {isWhole(open) && (
          <Detail
            key={open.id}
            of={open}
            isGone={changes.value.get(open.id)?.gone === true}
            onChange={(change, isOpen) => {
              changes.value = new Map(changes.value).set(open.id, { ...changes.value.get(open.id), ...change });
              reason.value = { memory: open.id, open: isOpen };
            }}
          />
        )}
      </div>
    </div>
  );
}

const isWhole = (memory: Named | undefined): memory is Recalled => memory?.text !== undefined;

type PillProps = Readonly<{ of: Named; change: Change | undefined; reason: Exchange["reason"] }>;

/** Where only its id is known, in the place of one until it is looked up. */
function Pill({ of, change, reason }: PillProps) {
  const wanted = reason.value?.memory === of.id ? reason.value : null;
  const pill = useFocus<HTMLButtonElement>(wanted);
  if (!isWhole(of))
    return (
      <span class="pill" aria-hidden="true">
        …
      </span>
    );
  const hard = of.strength === "hard";
  return (
    <button
      ref={pill}
      type="button"
      class={`pill${hard ? " hard" : ""}${change?.gone ? " gone" : ""}`}
      aria-expanded={wanted?.open === true}
      data-memory={of.id}
      onClick={() => (reason.value = { memory: of.id, open: !wanted?.open })}
    >
      {hard && <span aria-hidden="true">◆ </span>}
      <span dir="auto">{pillText({ ...of, text: change?.text ?? of.text })}</span>
      {hard && <span class="sr"> (must always hold)</span>}
    </button>
  );
}

type DetailProps = Readonly<{ of: Recalled; isGone: boolean; onChange: (change: Change, isOpen: boolean) => void }>;

function Detail({ of, isGone, onChange }: DetailProps) {
  const { value: found, failure } = useAnswer([], () => api.why(of.id));
  const editing = useSignal(false);
  const isForgotten = failure !== null && problemOf(failure).status === 404;
  useEffect(() => {
    if (isForgotten) onChange({ gone: true }, true);
  }, [isForgotten]);
  if (failure !== null) return <p class="small">{isForgotten ? "This is forgotten." : "I can't look this up right now."}</p>;
  if (isGone)
    return (
      <p class="small" role="status">
        Forgotten. It plays no part from now on.
      </p>
    );
  if (found === null) return <p class="small">One moment …</p>;
  const { memory } = found;
  const forget = () => {
    onChange({ gone: true }, true);
    forgetWithUndo(memory, () => onChange({ gone: false }, true));
  };
  return (
    <>
      <Reason of={found} />
      <div class="because-actions">
        {editing.value ? (
          <EditMemory of={memory} onSaved={({ text }) => onChange({ text }, false)} onLeft={() => (editing.value = false)} />
        ) : (
          <div class="row">
            <Button label="Edit" onClick={() => (editing.value = true)} />
            <Button label="Forget" onClick={forget} />
          </div>
        )}
      </div>
    </>
  );
}

/** "How I found this": what was looked up and done for an answer, in words. */

/** In characters. */
const LONGEST = 80;

export function StepView({ of }: { readonly of: Step }) {
  const asked = askedOf(of.input);
  const came = cameOf(of);
  return (
    <li class={came === FAILED ? "step bad" : "step"}>
      <b>{wordsOf(of.name ?? "tool")}</b>
      {asked && <span dir="auto">{asked}</span>}
      {came && <Said class="came" of={came} />}
    </li>
  );
}

const FAILED = "This did not work.";
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === "object" && value !== null;

function shortOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(shortOf).join(", ");
  if (isObject(value)) return "…";
  const text = String(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/** Names of things are for people, ids are not. */
function askedOf(input: unknown): string {
  if (!isObject(input)) return shortOf(input ?? "");
  return Object.entries(input)
    .filter(([name, value]) => !name.endsWith("_id") && value !== null && value !== "")
    .map(([name, value]) => `${wordsOf(name)}: ${shortOf(value)}`)
    .join(" · ");
}

function cameOf({ output, error }: Step): string {
  if (error) return FAILED;
  if (!isObject(output)) return "";
  if (typeof output.error === "string") return FAILED;
  if (typeof output.found === "number") return `${output.found} found`;
  if (typeof output.status === "string") return wordsOf(output.status);
  const list = Object.values(output).find(Array.isArray);
  return list ? `${list.length} found` : String(output.title ?? "");
}
