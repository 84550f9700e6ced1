import type { Owner } from "../../domain/owner.js";
import { script } from "../../platform/lua-script.js";
import type { RedisDatabase } from "./database.js";
import { HINTS, type Hint, type Hints } from "./hints.js";
import { tagOf } from "./keys.js";

/** The owner behind a hint, while they have anything; else the hint goes, and the name with it. */
const LOOK = script(
  ["own", "journals", "states", "log"],
  `${HINTS}
local gen = ARGV[1] ~= '' and ARGV[1] or call('HGET', K.own, 'hint:owners')
if not gen then
  call('HDEL', K.own, 'name')
  return { 'gone' }
end
local any = call('EXISTS', K.journals, K.states, K.log) > 0
local verdict = settle('owners', gen, any and 0 or nil)
if not any then call('HDEL', K.own, 'name') end
return { verdict, call('HGET', K.own, 'name') or '', gen }`,
);

/** Owners that have sessions or memories. */
export class OwnerRegistry {
  readonly #database: RedisDatabase;
  readonly #hints: Hints;

  constructor(database: RedisDatabase, hints: Hints) {
    this.#database = database;
    this.#hints = hints;
  }

  /** In no order, each once. */
  async *owners(): AsyncGenerator<Owner> {
    for await (const hint of this.#hints.upTo("owners", 0)) {
      const [verdict, name] = await this.#look(hint);
      await this.#hints.settled(hint, verdict);
      if (verdict !== "gone" && name !== undefined && name !== "") yield name as Owner;
    }
  }

  /** In the order of their tags, from behind one ("": all): null for one who has nothing any more. */
  async *behind(tag: string): AsyncGenerator<{ readonly owner: Owner | null; readonly tag: string }> {
    for await (const hint of this.#hints.behind("owners", tag)) {
      const [verdict, name = ""] = await this.#look(hint);
      await this.#hints.settled(hint, verdict);
      yield { owner: verdict === "gone" || name === "" ? null : (name as Owner), tag: hint.tag };
    }
  }

  /** Keeps nothing of an owner's name, unless there is something of theirs. */
  async leave(owner: Owner): Promise<void> {
    const reply = await this.#database.run(LOOK, this.#database.keys(owner), "");
    const [verdict, , gen] = reply as readonly string[];
    if (gen !== undefined) await this.#hints.settled({ name: "owners", tag: tagOf(owner), gen, score: 0 }, verdict);
  }

  async #look({ keys, gen }: Hint): Promise<readonly string[]> {
    return (await this.#database.run(LOOK, keys, gen)) as readonly string[];
  }
}
