import type { Owner } from "../../domain/owner.js";
import { AppError } from "../../platform/errors.js";
import { script } from "../../platform/lua-script.js";
import type { ContentCodec } from "../../ports/content-codec.js";
import type { ImageStore } from "../../ports/image-store.js";
import { keptBytes, keptFor, openedBytes } from "../journal/kept-content.js";
import type { RedisDatabase } from "./database.js";

const PUT = script(
  ["own", "images"],
  `if call('HGET', K.own, 'erasing') then return 'erased' end
call('HSETNX', K.images, ARGV[1], ARGV[2])
return 'kept'`,
);

const REMOVE = script(
  ["images"],
  `local gone = 0
for _, field in ipairs(call('HKEYS', K.images)) do
  if string.sub(field, 1, #ARGV[1]) == ARGV[1] then gone = gone + call('HDEL', K.images, field) end
end
return gone`,
);

const ERASE = script(
  ["images"],
  `local gone = call('HLEN', K.images)
call('UNLINK', K.images)
return gone`,
);

/** Images in one hash of their owner's, by session and id, as Base64. */
export class RedisImages implements ImageStore {
  readonly #database: RedisDatabase;
  readonly #codec: ContentCodec | null;

  constructor(database: RedisDatabase, codec: ContentCodec | null = null) {
    this.#codec = codec;
    this.#database = database;
  }

  async put(owner: Owner, sessionId: string, id: string, data: Uint8Array): Promise<void> {
    const text = Buffer.from(keptBytes(data, await keptFor(this.#codec, owner))).toString("base64");
    const outcome = await this.#database.run(PUT, this.#database.keys(owner), `${sessionId}:${id}`, text);
    if (outcome === "erased") throw new AppError("OWNER_ERASED", { retryAfterSeconds: 5 });
  }

  async get(owner: Owner, sessionId: string, id: string): Promise<Uint8Array | null> {
    const text = await this.#database.command("HGET", this.#database.keys(owner).images, `${sessionId}:${id}`);
    return typeof text === "string" ? openedBytes(Buffer.from(text, "base64"), await keptFor(this.#codec, owner)) : null;
  }

  async removeSession(owner: Owner, sessionId: string): Promise<number> {
    return Number(await this.#database.run(REMOVE, this.#database.keys(owner), `${sessionId}:`));
  }

  async erase(owner: Owner): Promise<number> {
    return Number(await this.#database.run(ERASE, this.#database.keys(owner)));
  }

  async residue(owner: Owner): Promise<number> {
    return Number(await this.#database.command("HLEN", this.#database.keys(owner).images));
  }
}
