import { useState } from "preact/hooks";
import { Facts, Submit, saveFile, sending } from "../web/controls.js";
import { client, type Otherwise, type ShownAnswer, type TurnRecord, type TurnReplay } from "./client.js";
import { countOf, moneyOf } from "./format.js";
import { Empty, Failed, Field, List } from "./parts.js";
import { Figure, Name, Said, State } from "./shown.js";
import { useLoaded } from "./use-loaded.js";

/** Runs a turn once more as its form says, and shows the new answer beside the one of then. */
export function Replay({ of: { tenant, user, session_id: session, turn } }: { readonly of: TurnRecord }) {
  const [asked, setAsked] = useState<Otherwise | null>(null);
  const known = tenant !== null && user !== null && session !== null && turn !== null;
  const { value: replay, failure } = useLoaded(asked, async (signal) =>
    asked && known ? client.replay({ tenant, user }, session, turn, asked, signal) : null,
  );
  if (!known) return <Empty>Which turn it is, is unknown.</Empty>;
  const running = asked !== null && replay === null && failure === null;
  const run = (form: HTMLFormElement) => {
    if (running) return;
    const given = new FormData(form);
    const [model, prompt] = ["model", "prompt"].map((name) => String(given.get(name) ?? "").trim());
    setAsked({ memory: given.get("without") === null, ...(model && { model }), ...(prompt && { prompt }) });
  };
  return (
    <>
      <form class="replay row" onSubmit={sending(run)}>
        <Field label="Model" name="model" placeholder="as configured" autoComplete="off" />
        <label class="check">
          <input type="checkbox" name="without" />
          Without memory
        </label>
        <Submit label="Replay" class="secondary" aria-disabled={running} />
        <details>
          <summary>Another prompt</summary>
          <label>
            <span class="sr">In the place of the product's prompt</span>
            <textarea name="prompt" rows={6} maxLength={100_000} dir="auto" />
          </label>
        </details>
      </form>
      <p role="status" class="note">
        {running && "It is being answered …"}
        {replay !== null && <Difference of={replay.difference} />}
      </p>
      {failure !== null && <Failed of={failure} again={() => setAsked(asked && { ...asked })} />}
      {replay !== null && (
        <div class="side-by-side">
          <Answered title="As it was answered" of={replay.recorded} />
          <Answered title="Replayed" of={replay.replayed} />
        </div>
      )}
    </>
  );
}

function Difference({ of }: { readonly of: TurnReplay["difference"] }) {
  const signed = (value: number | null | undefined, form: (value: number) => string) =>
    value === null || value === undefined ? "unknown" : `${value > 0 ? "+" : ""}${form(value)}`;
  return (
    <>
      Difference: {signed(of?.tokens, countOf)} tokens, cost {signed(of?.cost, moneyOf)}
    </>
  );
}

function Answered({ title, of }: { readonly title: string; readonly of: ShownAnswer | null }) {
  return (
    <section class="card" aria-label={title}>
      <h3>{title}</h3>
      {of === null ? (
        <Empty>It was not answered.</Empty>
      ) : (
        <>
          <p>
            <Said text={of.answer} chars={of.answer_chars} />
          </p>
          <Facts
            of={[
              ["Model", <Name key="model" of={of.model} />],
              ["Memory", <State key="memory" of={of.memory_status} />],
              ["Tools", of.tools?.length === 0 ? "none" : <Name key="tools" of={of.tools?.join(", ") ?? null} />],
              ["Tokens", <Figure key="tokens" of={of.tokens} />],
              ["Cost", <Figure key="cost" of={of.cost} as="money" />],
              ["Took", <Figure key="took" of={of.duration_ms} as="duration" />],
            ]}
          />
          <h4>What it knew</h4>
          <List of={of.recalled} unknown="What was recalled is unknown." none="No memory was recalled." as="ul" class="plain">
            {({ text, text_chars, strength, used }) => (
              <>
                <Said text={text} chars={text_chars} /> {strength === "hard" && <State of="hard">must hold</State>}{" "}
                {used === true && <State of="used" />}
              </>
            )}
          </List>
        </>
      )}
    </section>
  );
}

/** What a proposal that ended so stands for: it holds, or the guest is asked. Others are expected not to be remembered. */
const KEPT = new Set(["kept", "added", "confirmed", "superseded"]);
const ASKED = new Set(["asked", "waits", "to_confirm"]);

/** A turn as a conversation of an evaluation file: what was kept of it is what is expected. Whoever takes it in has a look at that. */
function evaluationCase({ session_id, turn, message, proposals, recalled }: TurnRecord): object {
  const expected = (proposals ?? []).filter(
    ({ text, outcome }) => text !== null && outcome !== null && (KEPT.has(outcome) || ASKED.has(outcome)),
  );
  return {
    id: `studio-${session_id ?? "unknown"}-${turn ?? "unknown"}`,
    group: "studio",
    lang: "und",
    messages: [message ?? ""],
    expect: expected.map(({ text, quote, outcome, memory_id }) => {
      const memory = recalled?.find(({ id }) => id !== null && id === memory_id);
      return {
        text,
        quote: quote ?? "",
        category: memory?.category ?? "other",
        hard: memory?.strength === "hard",
        match: [escaped((text ?? "").toLowerCase())],
        turn: 0,
        ask: outcome !== null && ASKED.has(outcome),
      };
    }),
    forbid: [],
  };
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

/** Hands it over as a file of one line. */
export function saveEvaluationCase(record: TurnRecord): void {
  const line = new Blob([`${JSON.stringify(evaluationCase(record))}\n`], { type: "application/x-ndjson" });
  saveFile(line, `turn-${(record.turn ?? "unknown").replaceAll(/[^\w-]/g, "_")}.jsonl`);
}
