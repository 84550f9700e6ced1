import type { Owner } from "../../domain/owner.js";
import { AppError } from "../../platform/errors.js";
import type { ContentCodec } from "../../ports/content-codec.js";
import type { ImageStore } from "../../ports/image-store.js";
import { keptBytes, keptFor, openedBytes } from "../journal/kept-content.js";
import type { Queries } from "./database.js";
import type { OwnerRows } from "./owner-rows.js";

/** Images as rows. */
export class PostgresImages implements ImageStore {
  readonly #database: Queries;
  readonly #owners: OwnerRows;
  readonly #codec: ContentCodec | null;

  constructor(database: Queries, owners: OwnerRows, codec: ContentCodec | null = null) {
    this.#codec = codec;
    this.#database = database;
    this.#owners = owners;
  }

  async put(owner: Owner, sessionId: string, id: string, data: Uint8Array): Promise<void> {
    const key = await this.#owners.ensure(owner);
    // Locked, so that an erasure either finds the image or is seen here.
    const [row] = await this.#database.query(
      `WITH own AS (SELECT erasing FROM {owners} WHERE key = $1 FOR SHARE),
       added AS (
         INSERT INTO {images} (owner, session_id, id, data) SELECT $2, $3, $4, $5 FROM own WHERE NOT own.erasing ON CONFLICT DO NOTHING
       )
       SELECT erasing FROM own`,
      [key, owner, sessionId, id, Buffer.from(keptBytes(data, await keptFor(this.#codec, owner)))],
    );
    if (row?.erasing === true) throw new AppError("OWNER_ERASED", { retryAfterSeconds: 5 });
  }

  async get(owner: Owner, sessionId: string, id: string): Promise<Uint8Array | null> {
    const [row] = await this.#database.query("SELECT data FROM {images} WHERE owner = $1 AND session_id = $2 AND id = $3", [
      owner,
      sessionId,
      id,
    ]);
    return row?.data instanceof Uint8Array ? openedBytes(row.data, await keptFor(this.#codec, owner)) : null;
  }

  removeSession(owner: Owner, sessionId: string): Promise<number> {
    return this.#database.run("DELETE FROM {images} WHERE owner = $1 AND session_id = $2", [owner, sessionId]);
  }

  erase(owner: Owner): Promise<number> {
    return this.#database.run("DELETE FROM {images} WHERE owner = $1", [owner]);
  }

  async residue(owner: Owner): Promise<number> {
    const [row] = await this.#database.query("SELECT count(*) AS images FROM {images} WHERE owner = $1", [owner]);
    return Number(row?.images ?? 0);
  }

  /** Deletes those whose message never came to a journal. Not the youngest: theirs may be on its way. Returns how many went. */
  sweep(): Promise<number> {
    return this.#database.run(
      `DELETE FROM {images} i WHERE i.at < now() - interval '1 day'
         AND NOT EXISTS (SELECT 1 FROM {journals} j WHERE j.session_id = i.session_id)`,
    );
  }
}
