import type { SessionStatus } from "../../domain/session.js";
import { script } from "../../platform/lua-script.js";
import type { SessionIndex } from "../../ports/session-store.js";
import type { RedisDatabase } from "./database.js";
import { HINTS, type Hint, type Hints } from "./hints.js";
import { type Keys, keysOf } from "./keys.js";
import type { SessionOwners } from "./session-owners.js";

/**
 * An owner's sessions of one status that have been as they are since before `before`, or end before `endsBefore`, behind a position, the
 * oldest first, at most `limit`. Answers what becomes of the hint, the owner, then ids and times in turn.
 */
const AGED = script(
  ["own", "since", "expires"],
  `${HINTS}
local given = cjson.decode(ARGV[1])
local function ms(number) return string.format('%.0f', number) end
local oldest = call('ZRANGE', given.expires and K.expires or K.since, 0, 0, 'WITHSCORES')
local verdict = settle(given.hint, given.gen, tonumber(oldest[2]))
if verdict == 'gone' then return { verdict } end
local found, seen = {}, {}
local function add(id, since)
  local behind = given.afterId == '' or since > given.afterSince or (since == given.afterSince and id > given.afterId)
  if behind and not seen[id] then
    seen[id] = true
    found[#found + 1] = { id, since }
  end
end
local aged = call('ZRANGEBYSCORE', K.since, given.afterId == '' and '-inf' or ms(given.afterSince), '(' .. ms(given.before), 'WITHSCORES')
for at = 1, #aged, 2 do add(aged[at], tonumber(aged[at + 1])) end
for _, id in ipairs(call('ZRANGEBYSCORE', K.expires, '-inf', '(' .. ms(given.endsBefore))) do
  add(id, tonumber(call('ZSCORE', K.since, id)))
end
table.sort(found, function(a, b)
  if a[2] ~= b[2] then return a[2] < b[2] end
  return a[1] < b[1]
end)
local reply = { verdict, call('HGET', K.own, 'name') or '' }
for at = 1, math.min(#found, given.limit) do
  reply[#reply + 1] = found[at][1]
  reply[#reply + 1] = ms(found[at][2])
end
return reply`,
);

/** Where a session stands that may be due. */
export interface ExpiringSession {
  readonly owner: string;
  readonly keys: Keys;
  readonly sessionId: string;
  readonly sinceMs: number;
}

interface Position {
  readonly afterId: string;
  readonly afterSince: number;
}

/** Sessions of all owners whose time may have come. */
export class ExpiringSessions {
  readonly #database: RedisDatabase;
  readonly #hints: Hints;
  readonly #owners: SessionOwners;

  constructor(database: RedisDatabase, hints: Hints, owners: SessionOwners) {
    this.#database = database;
    this.#hints = hints;
    this.#owners = owners;
  }

  /** As the port's `expiring`: the oldest first. */
  async find(query: Parameters<SessionIndex["expiring"]>[0]): Promise<readonly ExpiringSession[]> {
    const { status, limit } = query;
    const before = Date.parse(query.inactiveSince);
    const endsBefore = Date.parse(query.expiresBefore);
    const position = await this.#position(status, query.after);
    const found = new Map<string, ExpiringSession>();
    const look = async (hint: Hint) => {
      const expires = hint.name.startsWith("expires");
      const given = JSON.stringify({ hint: hint.name, gen: hint.gen, expires, before, endsBefore, limit, ...position });
      const keys = { own: hint.keys.own, since: hint.keys[`since:${status}`], expires: hint.keys[`expires:${status}`] };
      const [verdict, owner = "", ...rows] = (await this.#database.run(AGED, keys, given)) as readonly string[];
      for (let at = 0; at < rows.length; at += 2) {
        const sessionId = rows[at] ?? "";
        found.set(sessionId, { owner, keys: hint.keys, sessionId, sinceMs: Number(rows[at + 1]) });
      }
      await this.#hints.settled(hint, verdict);
    };
    for await (const hint of this.#hints.upTo(`expires:${status}`, endsBefore)) await look(hint);
    for await (const hint of this.#hints.upTo(`since:${status}`, before)) {
      // Nothing that stands behind a later hint is older than that.
      const last = oldestOf(found, limit)[limit - 1];
      if (last !== undefined && last.sinceMs < hint.score) break;
      await look(hint);
    }
    return oldestOf(found, limit);
  }

  async #position(status: SessionStatus, after: string | undefined): Promise<Position> {
    const nowhere = { afterId: "", afterSince: 0 };
    const tag = after === undefined ? null : await this.#owners.tagOf(after);
    if (after === undefined || tag === null) return nowhere;
    const since = await this.#database.command("ZSCORE", keysOf(this.#database.prefix, tag)[`since:${status}`], after);
    return since === null ? nowhere : { afterId: after, afterSince: Number(since) };
  }
}

function oldestOf(found: ReadonlyMap<string, ExpiringSession>, limit: number): readonly ExpiringSession[] {
  return [...found.values()].sort((a, b) => a.sinceMs - b.sinceMs || (a.sessionId < b.sessionId ? -1 : 1)).slice(0, limit);
}
