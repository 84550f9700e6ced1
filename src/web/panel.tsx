import { effect, type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { api, identity } from "./api.js";
import type { Memory, Waiting } from "./api-types.js";
import { forGood } from "./browser-store.js";
import { Confirm } from "./confirm.js";
import { pause } from "./connection.js";
import { Button, sending } from "./controls.js";
import { companionOf, dayOf, isoDay, when } from "./format.js";
import { fittingMemories, loadMemories, memories, memoriesProblem } from "./memories.js";
import { AddMemory, MemoryRow, Tags } from "./memory-row.js";
import { wordsFor } from "./problems.js";
import { me, memoryIsOn, paused, tell, waiting } from "./state.js";
import { Answered } from "./ui.js";
import { useAnswer } from "./use-answer.js";
import { YourData } from "./your-data.js";

/** The panel of what is known about the guest: look, search, add, change, forget, settle, look back. */

const OFF = "Nothing is kept beyond our conversation here, so every conversation begins anew. What you say in one stays there.";
const EMPTY = "Nothing yet. Tell me what you like, and what must always hold.";
const SEARCH_AFTER_MS = 250;

type Group = readonly [heading: string, rows: readonly ComponentChildren[]];

const HEADINGS = ["Must always hold", "The people with you", "This trip", "What you like", "What you have done"];

/** In which part of the panel a memory stands. */
function partOf(memory: Memory): number {
  if (memory.type === "episodic") return 4;
  if (companionOf(memory) !== null) return 1;
  if (memory.strength === "hard") return 0;
  return memory.scope === "trip" ? 2 : 3;
}

function groupsOf(known: readonly Memory[]): readonly Group[] {
  const byCompanion = known.toSorted((a, b) => (companionOf(a) ?? "").localeCompare(companionOf(b) ?? ""));
  const rowsOf = (part: number) =>
    byCompanion.filter((memory) => partOf(memory) === part).map((memory) => <MemoryRow key={memory.id} of={memory} />);
  return HEADINGS.map((heading, part) => [heading, rowsOf(part)]);
}

export function Panel({ onClose }: { readonly onClose: () => void }) {
  const search = useSignal("");
  const day = useSignal("");
  return (
    <>
      <header class="panel-head row between">
        <h2>What I know about you</h2>
        <Button label="✕" class="icon close" aria-label="Close" onClick={onClose} />
      </header>
      {memoryIsOn() && (
        <>
          <Pause />
          <search>
            <form onSubmit={sending(() => {})}>
              <label class="sr" for="memory-query">
                Search what I know
              </label>
              <input
                id="memory-query"
                type="search"
                placeholder="Search what I know"
                maxLength={1000}
                onInput={({ currentTarget }) => (search.value = currentTarget.value.trim())}
              />
            </form>
          </search>
        </>
      )}
      <div id="memory-list" class="memory-list" tabIndex={-1}>
        {memoryIsOn() ? <List search={search} day={day} /> : me.value && <p class="empty">{OFF}</p>}
      </div>
      {memoryIsOn() && <AddMemory />}
      <div id="memory-foot" class="memory-foot">
        {memoryIsOn() && (
          <>
            <Past />
            <details class="part">
              <summary>Look back</summary>
              <label class="stacked">
                <span>What I knew at the end of</span>
                <input
                  type="date"
                  id="memory-day"
                  max={isoDay(new Date())}
                  value={day}
                  onChange={({ currentTarget }) => (day.value = currentTarget.value)}
                />
              </label>
            </details>
          </>
        )}
        <YourData />
      </div>
    </>
  );
}

/** What the search and the day ask for, else all. */
function List({ search, day }: { readonly search: Signal<string>; readonly day: Signal<string> }) {
  const known = memories.value;
  const [text, at] = [search.value, day.value];
  const asks = text !== "" || at !== "";
  const asked = useAnswer([text, at, known], async (signal) => {
    if (asks) await pause(SEARCH_AFTER_MS, signal, "abort");
    if (!asks || signal.aborted) return null;
    return text
      ? { empty: `Nothing fits “${text}”.`, groups: await found(text) }
      : { empty: "I knew nothing about you then.", groups: [await asOf(at)] };
  });
  const problem = memoriesProblem.value ?? (asks ? asked.failure : null);
  if (problem !== null)
    return (
      <p class="empty warn">
        {`${wordsFor(problem).title}. `}
        <Button label="Look again" onClick={memoriesProblem.value === null ? asked.reload : () => void loadMemories()} />
      </p>
    );
  const { groups, empty } = (asks && asked.value) || { groups: [questions(waiting.value), ...groupsOf(known)], empty: EMPTY };
  const filled = groups.filter(([, rows]) => rows.length > 0);
  if (filled.length === 0) return <p class="empty">{empty}</p>;
  return filled.map(([heading, rows]) => (
    <section key={heading}>
      <h3>{heading}</h3>
      <ul class="plain">{rows}</ul>
    </section>
  ));
}

async function found(query: string): Promise<readonly Group[]> {
  return [["Found", (await fittingMemories(query)).map((memory) => <MemoryRow key={memory.id} of={memory} />)]];
}

/** As it was on another day: to be read only. */
async function asOf(day: string): Promise<Group> {
  const held = await api.allMemories({ as_of: new Date(`${day}T23:59:59`).toISOString() });
  const rows = held.map((memory) => (
    <li key={memory.id} class={memory.strength === "hard" ? "memory hard" : "memory"}>
      <p class="memory-text">{memory.text}</p>
      <Tags of={memory} />
    </li>
  ));
  return [`As I knew you on ${dayOf(`${day}T12:00`)}`, rows];
}

function questions(open: ReadonlyMap<string, Waiting>): Group {
  const rows = [...open.values()].map((each) => (
    <li key={each.id} class="memory asks">
      <Confirm of={each} />
    </li>
  ));
  return ["Waits for your word", rows];
}

const pausedKey = () => `maitred.paused.${identity.user}`;

/** Whether what is said is remembered: until the switch is thrown again, in all tabs of this browser. */
export function startPause(): void {
  const read = () => {
    paused.value = forGood.get(pausedKey()) === "true";
  };
  effect(() => {
    if (me.value !== null) read();
  });
  addEventListener("storage", ({ key }) => {
    if (key === pausedKey() || key === null) read();
  });
}

/** The switch, and the way to a conversation that is kept out as a whole. */
function Pause() {
  const toggle = () => {
    paused.value = !paused.value;
    if (paused.value) forGood.set(pausedKey(), "true");
    else forGood.remove(pausedKey());
  };
  return (
    <div class="pause">
      <div class="row between">
        <span id="pause-label">Remember what I say</span>
        <button type="button" class="switch" role="switch" aria-labelledby="pause-label" aria-checked={!paused.value} onClick={toggle}>
          <span class="knob" aria-hidden="true" />
        </button>
      </div>
      <p class="small" role="status">
        {paused.value ? "Paused: I keep nothing of what you say now, and don't use what I know." : ""}
      </p>
      <Button
        label="Start a temporary conversation"
        title="Nothing of it is remembered, and it is gone after a day."
        onClick={() => tell("new", { incognito: true })}
      />
    </div>
  );
}

/** What was true once, and what came instead. */
function Past() {
  const open = useSignal(false);
  const known = memories.value;
  const insteadOf = (by: string | null) => known.find(({ id }) => id === by)?.text;
  return (
    <details class="part" onToggle={({ currentTarget }) => (open.value = currentTarget.open)}>
      <summary>What changed</summary>
      {open.value && (
        <Answered keys={[known]} ask={() => api.allMemories({ status: "superseded" })}>
          {(past) => (
            <ul class="plain changes">
              {past.length === 0 && <li class="small">Nothing has changed so far.</li>}
              {past.map(({ id, text, updated_at: at, superseded_by: by }) => (
                <li key={id}>
                  <span class="past">{text}</span>
                  <span class="small">{insteadOf(by) ? `${when(at)} · now: ${insteadOf(by)}` : `Until ${when(at)}`}</span>
                </li>
              ))}
            </ul>
          )}
        </Answered>
      )}
    </details>
  );
}
