import { createHash } from "node:crypto";
import { z } from "zod";
import type { Owner } from "../domain/owner.js";
import type { Element, JsonValue } from "../domain/session.js";
import { canonicalJson } from "../platform/json.js";
import type { StateEngine } from "../state/engine.js";
import { optimisticCommit, unchanged } from "../state/optimistic-commit.js";
import { named, ownerPartition } from "../state/partition.js";

/** What guests were shown before it was done, as hashes and ids: what they agree to later is just this. */

const KEY = "record/shown";
/** Of one guest. The oldest go. */
const MOST_SHOWN = 50;

const shownSchema = z.object({
  /** Of the session, the tool, its arguments and the line that was shown. */
  call: z.string(),
  /** The turn whose answer showed it. */
  turn: z.number(),
  /** Of what stood against it; the empty string where nothing did. */
  against: z.string(),
  /** What it mentioned: ids of memories. */
  mentioned: z.array(z.string()),
  /** What the catalogue stated of the domain's limits, by their names: what it costs. Absent in what was kept before. */
  stated: z.record(z.string(), z.number()).default({}),
  /** The turn that does it, and whether it has; null: not begun. */
  done: z.object({ turn: z.number(), ended: z.boolean() }).nullable(),
});
/** What can't be read of it counts as never shown. */
const valueSchema = z.object({ v: z.literal(1), shown: z.array(z.unknown()) });

export type ShownCall = Readonly<z.infer<typeof shownSchema>>;

export class ShownCalls {
  readonly #engine: StateEngine;

  constructor(engine: StateEngine) {
    this.#engine = engine;
  }

  async find(owner: Owner, call: string): Promise<ShownCall | null> {
    const { entries } = await this.#engine.read(ownerPartition(owner), { keys: [KEY] });
    return shownIn(entries.get(KEY)?.value).find((each) => each.call === call) ?? null;
  }

  /** In the place of what was shown of the same call. Durable on resolve. */
  async put(owner: Owner, shown: ShownCall): Promise<void> {
    await this.#change(owner, (all) => [shown, ...all.filter(({ call }) => call !== shown.call)].slice(0, MOST_SHOWN));
  }

  /** Marks it as begun by a turn, before it is: false where another call was faster. */
  async begin(owner: Owner, { call, turn }: ShownCall, by: number): Promise<boolean> {
    let took = false;
    await this.#change(owner, (all) => {
      const isIt = (each: ShownCall) => each.call === call && each.turn === turn && each.done === null;
      took = all.some(isIt);
      return took ? all.map((each) => (isIt(each) ? { ...each, done: { turn: by, ended: false } } : each)) : all;
    });
    return took;
  }

  /** What became of what was begun. `done`: false where it failed, and may be tried again. */
  async end(owner: Owner, { call }: ShownCall, by: number, done: boolean): Promise<void> {
    const ended = done ? { turn: by, ended: true } : null;
    await this.#change(owner, (all) => all.map((each) => (each.call === call ? { ...each, done: ended } : each)));
  }

  async #change(owner: Owner, change: (all: readonly ShownCall[]) => readonly ShownCall[]): Promise<void> {
    await optimisticCommit(this.#engine, ownerPartition(owner), { keys: [KEY] }, (read) => {
      const all = shownIn(read.entries.get(KEY)?.value);
      const next = change(all);
      const value = JSON.stringify({ v: 1, shown: [...next] } satisfies z.infer<typeof valueSchema>);
      const commit = { epoch: read.epoch, checks: unchanged(read, KEY), puts: [named(owner), { key: KEY, value }] };
      return { commit: next === all ? null : commit, result: undefined };
    });
  }
}

function shownIn(value: string | undefined): readonly ShownCall[] {
  if (value === undefined) return [];
  return valueSchema.parse(JSON.parse(value)).shown.flatMap((each) => shownSchema.safeParse(each).data ?? []);
}

/**
 * Consent is words of the guest's own message, which the model names, to what an earlier answer showed. What the words mean is the model's
 * to judge; the code holds where they stand and how long ago they were asked for.
 */

/** What was shown, or asked, more turns ago is shown again first. */
export const ANSWERABLE_TURNS = 3;

/** Whether a quote stands in a message, word for word: compared without case, punctuation and white space. An empty one doesn't. */
export function standsIn(quote: string | undefined, message: string): boolean {
  const words = folded(quote ?? "");
  return words !== "" && ` ${folded(message)} `.includes(` ${words} `);
}

function folded(text: string): string {
  return (
    text
      .normalize("NFKC")
      .toLowerCase()
      .replace(/['\u2018\u2019\u02BC]/g, "")
      .match(/[\p{L}\p{M}\p{N}]+/gu)
      ?.join(" ") ?? ""
  );
}

/** What a button approves, and stands for in what is kept: the same values have the same hash. 32 characters. */
export function hashOf(...what: readonly unknown[]): string {
  return createHash("sha256").update(canonicalJson(what)).digest("hex").slice(0, 32);
}

/** A call that waits for the user's button. `question`: what they are asked; `conflicts`: what stands against it. */
export function approvalElement(
  token: string,
  call: { readonly tool: string; readonly question: string; readonly input: JsonValue; readonly conflicts?: readonly string[] },
): Element {
  const content = JSON.stringify({ token, ...call });
  return { id: `approval:${token}`, type: "approval", name: call.tool, content, display: "inline" };
}
