import { signal, useSignal } from "@preact/signals";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { api, type Patch } from "./api.js";
import type { Memory, MemoryEvent, Why } from "./api-types.js";
import { Button, Submit, sending } from "./controls.js";
import { companionOf, dayOf, isoDay, lastDay, messageLink, when, wordsOf } from "./format.js";
import { companions, forgetWithUndo } from "./memories.js";
import { tell } from "./state.js";
import { Answered, InPlaceForm, Marked, Said, sendOnEnter, toast, trying, useInPlace } from "./ui.js";

/** One memory in the panel, with what can be done about it; and the way to add one. */

const HAPPENED: Readonly<Record<string, string>> = {
  added: "Noted",
  confirmed: "Said again",
  edited: "Changed by you",
  superseded: "Replaced",
  approved: "You said yes",
  expired: "Ran out",
  forgotten: "Forgotten",
};

export function Tags({ of }: { readonly of: Memory }) {
  const companion = companionOf(of);
  return (
    <p class="tags">
      {companion && of.strength === "hard" && <span class="tag hard">must hold</span>}
      {companion && <span class="tag">{companion}</span>}
      {of.scope === "trip" && <span class="tag">this trip</span>}
      {of.valid_until && <span class="tag">until {dayOf(lastDay(of.valid_until), "short")}</span>}
      {of.category !== "other" && <span class="tag kind">{wordsOf(of.category)}</span>}
    </p>
  );
}

/** Whose row has the focus once it is there: a changed text is another memory. */
const edited = signal<string | null>(null);
type View = "Why?" | "Changes";

export function MemoryRow({ of }: { readonly of: Memory }) {
  const row = useRef<HTMLLIElement>(null);
  const editing = useSignal(false);
  const { ref: edit, leave } = useInPlace(editing);
  const view = useSignal<View | null>(null);
  useLayoutEffect(() => {
    if (edited.value !== of.id || document.activeElement !== document.body) return;
    edit.current?.focus();
    edited.value = null;
  });
  const saved = ({ id }: Memory) => {
    edited.value = id;
    toast("Saved.");
    leave();
  };
  /** Before a row goes, the focus goes to one beside it, or to the list. */
  const forget = () => {
    const beside = row.current?.nextElementSibling ?? row.current?.previousElementSibling;
    const next = beside?.querySelector(".actions button") ?? row.current?.closest(".memory-list");
    (next as HTMLElement | null | undefined)?.focus();
    forgetWithUndo(of);
  };
  const look = (name: View) => {
    view.value = view.value === name ? null : name;
  };
  const opener = (name: View) => (
    <Button label={name} aria-expanded={view.value === name} aria-label={`${name} ${of.text}`} onClick={() => look(name)} />
  );
  return (
    <li ref={row} class={of.strength === "hard" ? "memory hard" : "memory"} data-memory={of.id}>
      {editing.value ? (
        <EditMemory of={of} onSaved={saved} onLeft={leave} />
      ) : (
        <>
          <Said as="p" class="memory-text" of={of.text} />
          <Tags of={of} />
          <div class="row actions">
            {opener("Why?")}
            <Button label="Edit" ref={edit} aria-label={`Edit ${of.text}`} onClick={() => (editing.value = true)} />
            {opener("Changes")}
            <Button label="Forget" aria-label={`Forget ${of.text}`} onClick={forget} />
          </div>
          <div class="below">
            {view.value === "Why?" && <Answered ask={() => api.why(of.id)}>{(why) => <Reason of={why} />}</Answered>}
            {view.value === "Changes" && <Answered ask={() => api.history(of.id)}>{(events) => <Changes of={events} />}</Answered>}
          </div>
        </>
      )}
    </li>
  );
}

/** Why something is known: the guest's own words, with the part that says it marked, and the way to where they were said. */
export function Reason({ of: { memory, source, because } }: { readonly of: Why }) {
  const at = when(memory.stated_at);
  return (
    <>
      {source === null && because.length === 0 && <p class="small">{`You added this yourself, ${at}.`}</p>}
      {source?.message === null && <p class="small">You told me, in a conversation that is gone by now.</p>}
      {source && source.message !== null && (
        <>
          <p class="small">{`You said · ${at}`}</p>
          <blockquote dir="auto">
            <Marked message={source.message} quote={source.quote} />
          </blockquote>
          <a class="small" href={messageLink(source.session_id, source.message_id)}>
            Show it in the conversation
          </a>
        </>
      )}
      {because.length > 0 && (
        <div>
          <p class="small">It follows from:</p>
          <ul class="plain">
            {because.map((each) => (
              <li key={each.id}>{each.text}</li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}

/** A memory's life, oldest first. */
const Changes = ({ of }: { readonly of: readonly MemoryEvent[] }) => (
  <ol class="plain changes">
    {of.map(({ at, event, text }) => (
      <li key={at + event}>
        <span class="small">{`${when(at)} · ${HAPPENED[event] ?? event}`}</span>
        {text && <span class={event === "superseded" ? "past" : ""}>{text}</span>}
      </li>
    ))}
  </ol>
);

/** What a form says of a memory: what, whether it must hold, about whom, and the last day on which it holds, as a date field has it. */
function toldIn(form: HTMLFormElement) {
  const data = new FormData(form);
  const field = (name: string) => String(data.get(name) ?? "").trim();
  const who = field("who");
  const strength: Memory["strength"] = data.has("hard") ? "hard" : "soft";
  return { text: field("text"), strength, subject: who ? `companion:${who}` : "self", until: field("until") };
}

const untilOf = ({ valid_until: end }: Partial<Memory>) => (end ? isoDay(lastDay(end)) : "");

function changesIn(memory: Memory, { text, strength, subject, until }: ReturnType<typeof toldIn>): Patch {
  return {
    ...(text && text !== memory.text && { text }),
    ...(strength !== memory.strength && { strength }),
    ...(subject !== memory.subject && { subject }),
    ...(until !== untilOf(memory) && { valid_until: until || null }),
  };
}

function Fields({ of = {}, id }: { readonly of?: Partial<Memory>; readonly id?: string }) {
  const people = useId();
  return (
    <>
      <label class="stacked">
        <span>What is true</span>
        <textarea
          id={id && `${id}-text`}
          name="text"
          rows={2}
          maxLength={500}
          required
          defaultValue={of.text ?? ""}
          placeholder={id && "Prefers a table by the window"}
          onKeyDown={sendOnEnter}
        />
      </label>
      <label class="check">
        <input id={id && `${id}-hard`} name="hard" type="checkbox" defaultChecked={of.strength === "hard"} />
        <span>It must always hold (an allergy, access)</span>
      </label>
      <div class="pair">
        <label class="stacked">
          <span>About whom</span>
          <input name="who" type="text" maxLength={64} list={people} placeholder="you" defaultValue={companionOf(of) ?? ""} />
        </label>
        <label class="stacked">
          <span>Until, if it ends</span>
          <input name="until" type="date" defaultValue={untilOf(of)} />
        </label>
      </div>
      <datalist id={people}>
        {companions.value.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}

/** Does it once, however often it is asked for meanwhile; what went wrong is said. */
function useSaving(save: (form: HTMLFormElement) => Promise<void>) {
  const saving = useSignal(false);
  const send = async (form: HTMLFormElement) => {
    if (saving.value) return;
    saving.value = true;
    await trying(() => save(form));
    saving.value = false;
  };
  return { saving, send };
}

type EditProps = Readonly<{ of: Memory; onSaved: (memory: Memory) => void; onLeft: () => void }>;

/** Changes what is known. `onSaved`: as it is now, which is another memory where its text changed. */
export function EditMemory({ of, onSaved, onLeft }: EditProps) {
  const { saving, send } = useSaving(async (form) => {
    const patch = changesIn(of, toldIn(form));
    if (Object.keys(patch).length === 0) return onLeft();
    const memory = await api.changeMemory(of.id, patch);
    tell("memories", {});
    onSaved(memory);
  });
  return (
    <InPlaceForm class="memory-edit" aria-label={`Edit: ${of.text}`} send="Save" busy={saving.value} onSent={send} onLeft={onLeft}>
      <Fields of={of} />
    </InPlaceForm>
  );
}

export function AddMemory() {
  const { saving, send } = useSaving(async (form) => {
    const { text, strength, subject, until } = toldIn(form);
    if (!text) return;
    await api.addMemory({
      text,
      // Left out, it is what its kind usually is.
      ...(strength === "hard" && { strength }),
      ...(subject !== "self" && { subject }),
      ...(until && { valid_until: until, scope: "trip" }),
    });
    form.reset();
    tell("memories", {});
  });
  return (
    <div id="memory-add">
      <form class="memory-edit" onSubmit={sending(send)}>
        <h3>Tell me something to remember</h3>
        <Fields id="memory" />
        <div class="row end">
          <Submit label="Remember" class="secondary" disabled={saving.value} />
        </div>
      </form>
    </div>
  );
}
