import type { Owner } from "../../domain/owner.js";
import { AppError } from "../../platform/errors.js";
import { SERVER_TIME, script } from "../../platform/lua-script.js";
import { LAPSED_KEPT_MS, type LeaseEngine, type LeaseName, leaseKey } from "../journal/leased-lock.js";
import type { RedisDatabase } from "./database.js";

/** A lock that nobody's work is held by has a hash of its own, which goes with a lease that its holder left. */
const EXPIRES = `local function expires(leaseMs, kind)
  if kind == 'ownerless' then call('PEXPIRE', K.leases, string.format('%.0f', leaseMs + ${LAPSED_KEPT_MS})) end
end`;

/** What is kept of a lock that nobody's work is held by, so that its fences grow; in milliseconds. */
const OWNERLESS_KEPT_MS = 7 * 24 * 60 * 60 * 1000;

/**
 * A lease is `fence:until:revoked`. The fence of an owner's lock comes from one counter of theirs, which outlives everything; that of
 * another is at least the time, so that it grows although the counter goes in the end.
 */
const TAKE = script(
  ["own", "leases"],
  `${SERVER_TIME}
${EXPIRES}
local time = now()
if call('HGET', K.own, 'erasing') then return -1 end
local held = call('HGETALL', K.leases)
for at = 1, #held, 2 do
  if tonumber(string.match(held[at + 1], ':(%d+):')) < time then
    call('HDEL', K.leases, held[at])
  elseif held[at] == ARGV[1] then
    return 0
  end
end
local fence = call('HINCRBY', K.own, 'fence', 1)
if ARGV[3] == 'ownerless' then
  fence = math.max(fence, time)
  call('HSET', K.own, 'fence', string.format('%.0f', fence))
  call('PEXPIRE', K.own, ${OWNERLESS_KEPT_MS})
end
call('HSET', K.leases, ARGV[1], string.format('%.0f:%.0f:0', fence, time + ARGV[2]))
expires(ARGV[2], ARGV[3])
return fence`,
);

const RENEW = script(
  ["leases"],
  `${SERVER_TIME}
${EXPIRES}
local lease = call('HGET', K.leases, ARGV[1])
if not lease then return 0 end
local fence, revoked = string.match(lease, '^(%d+):%d+:(%d)$')
if fence ~= ARGV[2] or revoked == '1' then return 0 end
call('HSET', K.leases, ARGV[1], string.format('%s:%.0f:0', fence, now() + ARGV[3]))
expires(ARGV[3], ARGV[4])
return 1`,
);

const RELEASE = script(
  ["leases"],
  `local lease = call('HGET', K.leases, ARGV[1])
if lease and string.match(lease, '^(%d+)') == ARGV[2] then call('HDEL', K.leases, ARGV[1]) end`,
);

/** Answers how many are held still. */
const REVOKE = script(
  ["leases"],
  `${SERVER_TIME}
local time, left = now(), 0
local held = call('HGETALL', K.leases)
for at = 1, #held, 2 do
  local fence, last = string.match(held[at + 1], '^(%d+):(%d+)')
  if tonumber(last) < time then
    call('HDEL', K.leases, held[at])
  else
    left = left + 1
    call('HSET', K.leases, held[at], fence .. ':' .. last .. ':1')
  end
end
return left`,
);

/** Fields and ends of those that have not ended, in turn. */
const HELD = script(
  ["leases"],
  `${SERVER_TIME}
local time, reply = now(), {}
local held = call('HGETALL', K.leases)
for at = 1, #held, 2 do
  local last = string.match(held[at + 1], ':(%d+):')
  if tonumber(last) >= time then
    reply[#reply + 1] = held[at]
    reply[#reply + 1] = last
  end
end
return reply`,
);

/** Leases as fields of a hash of their owner's; that of nobody's work has a hash of its own. */
export class RedisLeases implements LeaseEngine {
  readonly #database: RedisDatabase;

  constructor(database: RedisDatabase) {
    this.#database = database;
  }

  async take(lease: LeaseName): Promise<number | null> {
    const fence = Number(await this.#database.run(TAKE, this.#keys(lease), lease.key, lease.leaseMs, kindOf(lease)));
    if (fence < 0) throw new AppError("OWNER_ERASED", { retryAfterSeconds: 5 });
    return fence === 0 ? null : fence;
  }

  async renew(lease: LeaseName, fence: number): Promise<boolean> {
    return (await this.#database.run(RENEW, this.#keys(lease), lease.key, fence, lease.leaseMs, kindOf(lease))) === 1;
  }

  async release(lease: LeaseName, fence: number): Promise<void> {
    await this.#database.run(RELEASE, this.#keys(lease), lease.key, fence);
  }

  async revoke(owner: Owner): Promise<boolean> {
    return Number(await this.#database.run(REVOKE, this.#database.keys(owner))) > 0;
  }

  /** The leases that are held now, by anybody, by key: when each ends, in milliseconds of the server's clock. `except`: a lock's key. */
  async held(except: string): Promise<ReadonlyMap<string, number>> {
    const found = new Map<string, number>();
    for await (const key of this.#database.scan("*:leases")) {
      const held = (await this.#database.run(HELD, { leases: key })) as readonly string[];
      for (let at = 0; at < held.length; at += 2) if (held[at] !== leaseKey(except)) found.set(`${key} ${held[at]}`, Number(held[at + 1]));
    }
    return found;
  }

  #keys({ key, owner }: LeaseName): { readonly own: string; readonly leases: string } {
    if (owner !== undefined) return this.#database.keys(owner);
    const base = `${this.#database.prefix}:{lock:${key}}`;
    return { own: `${base}:own`, leases: `${base}:leases` };
  }
}

function kindOf({ owner }: LeaseName): "owned" | "ownerless" {
  return owner === undefined ? "ownerless" : "owned";
}
