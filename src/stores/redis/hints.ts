import type { Owner } from "../../domain/owner.js";
import type { SessionStatus } from "../../domain/session.js";
import { AppError } from "../../platform/errors.js";
import { script } from "../../platform/lua-script.js";
import type { RedisDatabase } from "./database.js";
import { type Keys, keysOf, tagOf } from "./keys.js";

/**
 * A hint says which owners may have something, in a key of its own that all owners share (zset); what an owner really has stands with the
 * owner, in another slot, so that no script can write both. A hint may promise too much and never too little, whatever is killed when:
 *
 * - A write that needs one is refused by its script until the owner's own hash names it. It gets a number (`gen`), puts the hint there
 *   under that number, and tries again with the number as its offer; only then does the owner's hash name the hint.
 * - Whoever finds a hint that the owner's hash doesn't name makes its number void there before taking it away: a write that comes late
 *   with that number is refused, and gets another one.
 * - A hint's score is the smallest that the owner may have (`bound`). It is raised with the owner first, then in the hint.
 */
export type HintName = "owners" | "due" | "failed" | "erasing" | "told" | `${"since" | "expires"}:${SessionStatus}`;

/** What a write needs: hints with at most this score. */
export type Need = readonly [hint: HintName, score: number];
/** A number, and the hints that were put under it with their scores. */
export interface Offer {
  readonly gen: number;
  readonly at: Readonly<Record<string, number>>;
}

/**
 * For scripts with `K.own`. `lacking` answers what a script is to return instead of writing, or nil where all hints stand: the last of
 * its checks. `settle` makes a hint fit the least score that the owner has (nil: none), and answers the score it is to have, or `gone`.
 */
export const HINTS = `
local function lacking(needs, offer)
  local void = tonumber(call('HGET', K.own, 'void') or '0')
  local named, missing = {}, {}
  for _, need in ipairs(needs) do
    local bound = call('HGET', K.own, 'bound:' .. need[1])
    if not bound or tonumber(bound) > need[2] then
      local at = offer and offer.gen > void and offer.at[need[1]]
      if at and at <= need[2] then
        named[#named + 1] = { need[1], at }
      else
        missing[#missing + 1] = need[1]
      end
    end
  end
  if #missing > 0 then return { 'hint', call('HINCRBY', K.own, 'gen', 1), unpack(missing) } end
  for _, each in ipairs(named) do
    call('HSET', K.own, 'hint:' .. each[1], string.format('%.0f', offer.gen), 'bound:' .. each[1], string.format('%.0f', each[2]))
  end
  return nil
end
local function settle(name, gen, least)
  local own = call('HMGET', K.own, 'hint:' .. name, 'bound:' .. name, 'void')
  if own[1] ~= gen then
    if tonumber(own[3] or '0') < tonumber(gen) then call('HSET', K.own, 'void', gen) end
    return 'gone'
  end
  if not least then
    call('HDEL', K.own, 'hint:' .. name, 'bound:' .. name)
    return 'gone'
  end
  local bound = string.format('%.0f', math.max(least, tonumber(own[2])))
  if bound ~= own[2] then call('HSET', K.own, 'bound:' .. name, bound) end
  return bound
end
`;

/** The page behind a member, or, where that has gone elsewhere, from its score on. */
const PAGE_AFTER = script(
  ["hints"],
  `local from = 0
if ARGV[2] ~= '' then
  if call('ZSCORE', K.hints, ARGV[2]) == ARGV[3] then
    from = call('ZRANK', K.hints, ARGV[2]) + 1
  else
    from = call('ZCOUNT', K.hints, '-inf', '(' .. ARGV[3])
  end
end
return call('ZRANGEBYSCORE', K.hints, '-inf', ARGV[1], 'WITHSCORES', 'LIMIT', from, ARGV[4])`,
);

/** A hint as it was found. */
export interface Hint {
  readonly name: HintName;
  readonly tag: string;
  readonly gen: string;
  readonly score: number;
  readonly keys: Keys;
}

const MAX_TRIES = 10;
const PAGE = 100;

/** Puts hints, finds them, and takes away those that are out of date. */
export class Hints {
  readonly #database: RedisDatabase;

  constructor(database: RedisDatabase) {
    this.#database = database;
  }

  /** Runs a script that may ask for hints, until it has them. Its answer. */
  having(owner: Owner, needs: readonly Need[], run: (offer: Offer | null) => Promise<unknown>): Promise<readonly string[]> {
    return this.havingTag(tagOf(owner), needs, run);
  }

  /** The same for an owner whose name nobody knows. */
  async havingTag(tag: string, needs: readonly Need[], run: (offer: Offer | null) => Promise<unknown>): Promise<readonly string[]> {
    let offer: Offer | null = null;
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      const reply = ((await run(offer)) ?? []) as readonly string[];
      if (reply[0] !== "hint") return reply;
      offer = await this.#put(tag, Number(reply[1]), reply.slice(2), needs);
    }
    throw new AppError("STORAGE_UNAVAILABLE", { detail: "Redis is too busy with this user.", retryAfterSeconds: 1 });
  }

  /** Hints with a score up to this one, smallest first. None is passed over for what is taken away or raised meanwhile. */
  async *upTo(name: HintName, score: number): AsyncGenerator<Hint> {
    const key = this.#key(name);
    const seen = new Set<string>();
    for (let last: readonly [string, string] = ["", "0"]; ; ) {
      const found = (await this.#database.run(PAGE_AFTER, { hints: key }, score, ...last, PAGE)) as readonly string[];
      for (let at = 0; at < found.length; at += 2) {
        const member = found[at] ?? "";
        last = [member, found[at + 1] ?? "0"];
        if (seen.has(member)) continue;
        seen.add(member);
        const [tag = "", gen = ""] = member.split(":");
        yield { name, tag, gen, score: Number(last[1]), keys: keysOf(this.#database.prefix, tag) };
      }
      if (found.length < 2 * PAGE) return;
    }
  }

  /** Hints of a name whose scores are all the same, in the order of their tags, from behind a tag ("": all). */
  async *behind(name: HintName, tag: string): AsyncGenerator<Hint> {
    const key = this.#key(name);
    // What a tag's members begin with ends with a colon: a semicolon is behind all of them.
    for (let from = tag === "" ? "-" : `[${tag};`; ; ) {
      const found = (await this.#database.command("ZRANGEBYLEX", key, from, "+", "LIMIT", 0, PAGE)) as readonly string[];
      for (const member of found) {
        const [owner = "", gen = ""] = member.split(":");
        yield { name, tag: owner, gen, score: 0, keys: keysOf(this.#database.prefix, owner) };
      }
      const last = found.at(-1);
      if (last === undefined || found.length < PAGE) return;
      from = `(${last}`;
    }
  }

  /** Takes a hint away, or raises it, as `settle` said in a script. */
  async settled({ name, tag, gen, score }: Pick<Hint, "name" | "tag" | "gen" | "score">, verdict: string | undefined): Promise<void> {
    const member = `${tag}:${gen}`;
    if (verdict === "gone") await this.#database.command("ZREM", this.#key(name), member);
    else if (Number(verdict) > score) await this.#database.command("ZADD", this.#key(name), "XX", "GT", Number(verdict), member);
  }

  async #put(tag: string, gen: number, asked: readonly string[], needs: readonly Need[]): Promise<Offer> {
    const at = Object.fromEntries(needs.filter(([name]) => asked.includes(name)));
    await Promise.all(Object.entries(at).map(([name, score]) => this.#database.command("ZADD", this.#key(name), score, `${tag}:${gen}`)));
    return { gen, at };
  }

  #key(name: string): string {
    return `${this.#database.prefix}:hints:${name}`;
  }
}
