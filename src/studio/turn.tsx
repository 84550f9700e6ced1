import { Button, Facts } from "../web/controls.js";
import { client, type OwnerName, type Proposal, type Timing, type TurnPlace, type TurnRecord } from "./client.js";
import { durationOf } from "./format.js";
import { Empty, Filled, Heading, Link, List, Section, Shown, Table } from "./parts.js";
import { type Comparison, Prompt, Recalled } from "./prompt.js";
import { Replay, saveEvaluationCase } from "./replay.js";
import { addressOf } from "./route.js";
import { Anything, Code, Figure, Name, Quote, Said, State, Talk, Unknown, When } from "./shown.js";
import { useLoaded } from "./use-loaded.js";

/** `compare`: with the prompt of the turn before. */
type TurnProps = TurnPlace & { readonly compare: boolean };

/** All that was kept of one turn: what it knew, what it was given, how long it took, and what became of it. */
export function TurnScreen({ tenant, user, session, turn, compare }: TurnProps) {
  const record = useLoaded(`${tenant}/${user}/${session}/${turn}`, (abort) => client.turn({ tenant, user }, session, turn, abort));
  const before = turnBeside(turn, -1);
  const link = (to: string | null, label: string) =>
    to !== null && <Link to={addressOf("turns", [tenant, user, session, to], compare ? { compare: "yes" } : {})}>{label}</Link>;
  return (
    <>
      <Heading title={`Turn ${turn}`}>
        Turn <Name of={turn} />
      </Heading>
      <nav class="row" aria-label="Turns of the conversation">
        <Link to={addressOf("conversations", [tenant, user, session])}>All turns</Link>
        {link(before, "← Turn before")}
        {link(turnBeside(turn, 1), "Turn after →")}
        <Link to={addressOf("guests", [tenant, user])}>
          The guest, <Name of={user} />
        </Link>
      </nav>
      <Shown of={record} missing="There is no such turn: the conversation ends before it, or was deleted.">
        {(of) => <Recorded of={of} comparison={{ wanted: compare, before, place: { tenant, user, session, turn } }} />}
      </Shown>
    </>
  );
}

/** Turns are numbered from 1; null where this is no number, or nothing is there. */
function turnBeside(turn: string, step: number): string | null {
  if (!/^\d{1,9}$/.test(turn)) return null;
  const other = Number(turn) + step;
  return other < 1 ? null : String(other);
}

function Recorded({ of, comparison }: { readonly of: TurnRecord; readonly comparison: Comparison }) {
  return (
    <>
      <div class="card said-there">
        <Talk of={of} />
      </div>
      <Facts
        of={[
          ["At", <When key="at" at={of.at} />],
          ["Model", <Name key="model" of={of.model} />],
          ["Memory", <State key="memory" of={of.memory_status} />],
          ["Outcome", <Outcome key="outcome" of={of} />],
          ["Took", <Figure key="took" of={of.duration_ms} as="duration" />],
          ["First token after", <Figure key="first" of={of.first_token_ms} as="duration" />],
          ...(of.incognito === true ? [["Incognito", "yes: nothing of it is remembered"] as const] : []),
          ["Cost", <Figure key="cost" of={of.cost} as="money" />],
          ["Remembering", <WriteBack key="write-back" of={of} />],
        ]}
      />
      {of.prompt_blocks === null && of.recalled === null && of.timings === null && (
        <Empty>No record of this turn was kept: it may be of an older version, or records are off. What the journal has is shown.</Empty>
      )}
      <div class="columns">
        <div>
          <Section title="How long it took">
            <Waterfall timings={of.timings} steps={of.steps} />
          </Section>
          <Section title="What was recalled, and why">
            <Recalled memories={of.recalled} heldBack={of.held_back} />
          </Section>
          <Section title="Prompt as sent">
            <Prompt blocks={of.prompt_blocks} comparison={comparison} />
          </Section>
        </div>
        <div>
          <Section title="What the reader proposed">
            <Proposals of={of.proposals} place={comparison.place} />
          </Section>
          <Section title="Parts of the answer">
            <List of={of.parts} unknown="Which parts it had is unknown." none="It had none." class="blocks">
              {(part) => (
                <details>
                  <summary>
                    <Code of={typeOf(part)} />
                  </summary>
                  <Anything of={part} />
                </details>
              )}
            </List>
          </Section>
          <Section title="Tokens">{of.usage === null ? <Empty>What was used is unknown.</Empty> : <Anything of={of.usage} />}</Section>
          <Section title="Evaluation" note="A line for a file of conversations, with what was kept of this turn as what is expected.">
            {of.message === null ? (
              <Empty>A case needs the message, which is not shown.</Empty>
            ) : (
              <Button label="Save as an evaluation case" class="secondary" onClick={() => saveEvaluationCase(of)} />
            )}
          </Section>
        </div>
      </div>
      <Section
        title="Replay"
        note="This turn once more, with what was said and known before it. Nothing of it is kept, and nothing is booked."
      >
        <Replay of={of} />
      </Section>
    </>
  );
}

function Outcome({ of: { outcome, error_code } }: { readonly of: TurnRecord }) {
  return (
    <span class="row">
      <State of={outcome} />
      {error_code !== null && <Name of={error_code} />}
    </span>
  );
}

function WriteBack({ of: { write_back: of } }: { readonly of: TurnRecord }) {
  if (of === null) return <State of={null} />;
  return (
    <span class="row">
      <State of={of.state} />
      <Figure of={of.attempts} unit={of.attempts === 1 ? "attempt" : "attempts"} />
      {of.error_code !== null && <Name of={of.error_code} />}
    </span>
  );
}

function typeOf(part: unknown): string {
  const type = typeof part === "object" && part !== null && "type" in part ? part.type : null;
  return typeof type === "string" ? type : "unknown";
}

interface ProposalsProps {
  readonly of: readonly Proposal[] | null;
  readonly place: OwnerName;
}

/** What a model, or the stand-in, wanted to remember of the message, and what became of each. */
const Proposals = ({ of, place: { tenant, user } }: ProposalsProps) => (
  <List of={of} unknown="What was proposed is unknown." none="Nothing was proposed." class="proposals" item="card">
    {({ op, text, text_chars, outcome, quote, quote_chars, reason, memory_id }) => (
      <>
        <p>
          <span class="note">
            <Code of={op} />
          </span>{" "}
          <Said text={text} chars={text_chars} /> <State of={outcome} />
        </p>
        <Quote text={quote} chars={quote_chars} />
        {reason !== null && (
          <p class="note">
            Why: <Code of={reason} />
          </p>
        )}
        {memory_id !== null && (
          <p class="note">
            <Link to={addressOf("guests", [tenant, user])}>In the guest's timeline</Link>
          </p>
        )}
      </>
    )}
  </List>
);

/** Width of the bars in units of the drawing. */
const WIDTH = 1000;
/** What goes on behind the reply: it has a place, and doesn't stretch the rest. */
const BEHIND = "write_back";

/** When each part of a turn began and how long it took, drawn and in numbers. */
function Waterfall({ timings, steps }: { readonly timings: readonly Timing[] | null; readonly steps: readonly Timing[] | null }) {
  const failures = (steps ?? []).filter(({ error }) => error !== null);
  return (
    <>
      <Filled of={timings} unknown="How long it took is unknown." none="Nothing was measured.">
        {(all) => <Bars of={all} />}
      </Filled>
      {failures.length > 0 && (
        <ul class="plain">
          {failures.map(({ name, error }, index) => (
            <li key={index} class="failed-step">
              <Name of={name} /> failed: <Name of={error} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function Bars({ of }: { readonly of: readonly Timing[] }) {
  const ends = of.filter(({ name }) => name !== BEHIND).map(endOf);
  const whole = Math.max(1, ...ends);
  const isDueLater = ({ name, duration_ms: duration }: Timing) => name === BEHIND && duration === null;
  return (
    <div class="waterfall">
      <Table
        label="How long each part took"
        of={of}
        columns={[
          ["Part", ({ name }) => <Code of={name} />],
          ["When", (timing) => <Bar of={timing} whole={whole} />],
          ["How long", (timing) => (isDueLater(timing) ? "after" : <Figure of={timing.duration_ms} as="duration" />)],
        ]}
      />
    </div>
  );
}

function Bar({ of, whole }: { readonly of: Timing; readonly whole: number }) {
  const { name, started_ms: started, duration_ms: duration } = of;
  if (started === null) return <Unknown />;
  const from = Math.min(WIDTH - 12, Math.max(0, (started / whole) * WIDTH));
  const width = Math.min(WIDTH - from, Math.max(8, ((duration ?? 0) / whole) * WIDTH));
  return (
    <>
      <span class="sr">{name === BEHIND ? "behind the reply" : `from ${durationOf(started)}`}</span>
      <svg class={`bar ${kindOf(name)}`} viewBox={`0 0 ${WIDTH} 10`} preserveAspectRatio="none" aria-hidden="true">
        <rect x={from} y="0" width={width} height="10" />
      </svg>
    </>
  );
}

function endOf({ started_ms, duration_ms }: Timing): number {
  return (started_ms ?? 0) + (duration_ms ?? 0);
}

function kindOf(name: string | null): string {
  if (name === BEHIND) return "behind";
  return name !== null && /^model\b/.test(name) ? "model" : "other";
}
