import type { Timing } from "./client.js";
import { durationOf } from "./format.js";
import { Filled, Table } from "./parts.js";
import { Code, Figure, Name, Unknown } from "./shown.js";

/** Width of the bars in units of the drawing. */
const WIDTH = 1000;
/** What goes on behind the reply: it has a place, and doesn't stretch the rest. */
const BEHIND = "write_back";

/** When each part of a turn began and how long it took, drawn and in numbers. */
export function Waterfall({ timings, steps }: { readonly timings: readonly Timing[] | null; readonly steps: readonly Timing[] | null }) {
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
