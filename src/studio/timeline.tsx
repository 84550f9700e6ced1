import { useState } from "preact/hooks";
import { Button } from "../web/controls.js";
import { AsOf } from "./as-of.js";
import { Changes } from "./change-card.js";
import { client, type OwnerName } from "./client.js";
import { momentOf, timeOf } from "./format.js";
import { Paged } from "./parts.js";
import { route, setQuery } from "./route.js";
import { usePages } from "./use-loaded.js";

/** How a guest's memory came about, newest first; or what held at an earlier moment, and what has changed since. */
export function Timeline({ tenant, user }: OwnerName) {
  const asOf = timeOf(route.value.query.as_of ?? "");
  const changes = usePages(`${tenant}/${user}`, (cursor, abort) => client.timeline({ tenant, user }, undefined, cursor, abort));
  const moments = [...new Set(changes.rows.flatMap(({ at }) => timeOf(at ?? "")?.getTime() ?? []))].sort((a, b) => a - b);
  return (
    <>
      {moments.length > 0 && <Slider moments={moments} asOf={asOf} />}
      {asOf === null ? (
        <Paged of={changes} empty="Nothing was ever remembered of this guest." moreLabel="Show what was before">
          {(rows) => <Changes of={rows} owner={{ tenant, user }} />}
        </Paged>
      ) : (
        <AsOf owner={{ tenant, user }} at={asOf} />
      )}
    </>
  );
}

interface SliderProps {
  /** When something changed, in milliseconds, oldest first. */
  readonly moments: readonly number[];
  readonly asOf: Date | null;
}

/** Goes from change to change; at its end it is now. */
function Slider({ moments, asOf }: SliderProps) {
  const [dragged, setDragged] = useState<number | null>(null);
  const now = moments.length;
  const before = asOf === null ? now : moments.findLastIndex((moment) => moment <= asOf.getTime());
  const shown = dragged ?? Math.max(0, before);
  const at = moments[shown];
  const choose = (index: number) => {
    setDragged(null);
    const moment = moments[index];
    setQuery(moment === undefined ? {} : { as_of: new Date(moment).toISOString() }, true);
  };
  // Between two changes it is as after the earlier one; the address may name any moment.
  const said = dragged === null && asOf !== null ? asOf : at === undefined ? null : new Date(at);
  return (
    <div class="as-of row">
      <label for="as-of">As of</label>
      <input
        id="as-of"
        type="range"
        min={0}
        max={now}
        step={1}
        value={shown}
        aria-valuetext={said === null ? "now" : momentOf(said)}
        onInput={(event) => setDragged(event.currentTarget.valueAsNumber)}
        onChange={(event) => choose(event.currentTarget.valueAsNumber)}
      />
      <output for="as-of">{said === null ? "now" : momentOf(said)}</output>
      {asOf !== null && <Button label="Back to now" onClick={() => choose(now)} />}
    </div>
  );
}
