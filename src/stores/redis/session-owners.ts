import type { Owner } from "../../domain/owner.js";
import { AppError } from "../../platform/errors.js";
import { script } from "../../platform/lua-script.js";
import type { RedisDatabase } from "./database.js";
import { keysOf, sessionOwnerKey, tagOf } from "./keys.js";

const MAX_TRIES = 5;

const REPLACE = script(["owner"], "if call('GET', K.owner) == ARGV[1] then call('SET', K.owner, ARGV[2]) return 1 end return 0");
const REMOVE = script(["owner"], "if call('GET', K.owner) == ARGV[1] then return call('DEL', K.owner) end return 0");

/**
 * Whose session an id is: a key by the id alone, in a slot of its own, written before the session is begun and removed after it is gone.
 * One that a crash left without its session is taken over by whoever begins a session of that id.
 */
export class SessionOwners {
  readonly #database: RedisDatabase;

  constructor(database: RedisDatabase) {
    this.#database = database;
  }

  /** @throws SESSION_CHANGED when there is a session of that id, whoever's */
  async reserve(owner: Owner, sessionId: string): Promise<void> {
    const key = sessionOwnerKey(this.#database.prefix, sessionId);
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      if ((await this.#database.command("SET", key, tagOf(owner), "NX")) !== null) return;
      const tag = await this.tagOf(sessionId);
      if (tag === null) continue;
      if ((await this.#database.command("EXISTS", keysOf(this.#database.prefix, tag, sessionId).head)) === 1) break;
      if ((await this.#database.run(REPLACE, { owner: key }, tag, tagOf(owner))) === 1) return;
    }
    throw new AppError("SESSION_CHANGED");
  }

  async tagOf(sessionId: string): Promise<string | null> {
    return (await this.#database.command("GET", sessionOwnerKey(this.#database.prefix, sessionId))) as string | null;
  }

  /** Unless it is somebody else's by now. */
  async release(owner: Owner, sessionId: string): Promise<void> {
    await this.#database.run(REMOVE, { owner: sessionOwnerKey(this.#database.prefix, sessionId) }, tagOf(owner));
  }
}
