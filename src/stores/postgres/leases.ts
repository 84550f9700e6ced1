import type { Owner } from "../../domain/owner.js";
import { AppError } from "../../platform/errors.js";
import { LAPSED_KEPT_MS, type LeaseEngine, type LeaseName, leaseKey } from "../journal/leased-lock.js";
import type { Queries } from "./database.js";
import type { OwnerRows } from "./owner-rows.js";

/** Leases as rows. The fence comes from one sequence, which never goes back. */
export class PostgresLeases implements LeaseEngine {
  readonly #database: Queries;
  readonly #owners: OwnerRows;

  constructor(database: Queries, owners: OwnerRows) {
    this.#database = database;
    this.#owners = owners;
  }

  async take({ key, owner, leaseMs }: LeaseName): Promise<number | null> {
    const ownerKey = owner === undefined ? null : await this.#owners.ensure(owner);
    const [row] = await this.#database.query(
      `INSERT INTO {leases} AS l (key, fence, until, owner_key)
       SELECT $1, nextval('{fences}'), now() + $2 * interval '1 millisecond', $3
       WHERE NOT EXISTS (SELECT 1 FROM {owners} WHERE key = $3 AND erasing)
       ON CONFLICT (key) DO UPDATE SET fence = excluded.fence, until = excluded.until, owner_key = excluded.owner_key, revoked = false
         WHERE l.until < now()
       RETURNING fence`,
      [key, leaseMs, ownerKey],
    );
    if (row === undefined && ownerKey !== null && (await this.#owners.refuses(ownerKey, null)))
      throw new AppError("OWNER_ERASED", { retryAfterSeconds: 5 });
    return row === undefined ? null : Number(row.fence);
  }

  async renew({ key, leaseMs }: LeaseName, fence: number): Promise<boolean> {
    const renewed = await this.#database.run(
      "UPDATE {leases} SET until = now() + $3 * interval '1 millisecond' WHERE key = $1 AND fence = $2 AND NOT revoked",
      [key, fence, leaseMs],
    );
    return renewed > 0;
  }

  async release({ key }: LeaseName, fence: number): Promise<void> {
    await this.#database.run("DELETE FROM {leases} WHERE key = $1 AND fence = $2", [key, fence]);
  }

  async revoke(owner: Owner): Promise<boolean> {
    const key = await this.#owners.ensure(owner);
    await this.#database.run("UPDATE {leases} SET revoked = true WHERE owner_key = $1", [key]);
    const held = await this.#database.query("SELECT 1 FROM {leases} WHERE owner_key = $1 AND until >= now() LIMIT 1", [key]);
    return held.length > 0;
  }

  /** Deletes leases that ended by themselves long ago, whose keys may be nobody's any more. Returns how many. */
  sweep(): Promise<number> {
    return this.#database.run("DELETE FROM {leases} WHERE until < now() - $1 * interval '1 millisecond'", [LAPSED_KEPT_MS]);
  }

  /** The leases that are held now, by anybody, by key: when each ends, in milliseconds of the server's clock. `except`: a lock's key. */
  async held(except: string): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#database.query(
      "SELECT key, EXTRACT(EPOCH FROM until) * 1000 AS until FROM {leases} WHERE until >= now() AND key <> $1",
      [leaseKey(except)],
    );
    return new Map(rows.map((row) => [String(row.key), Number(row.until)]));
  }
}
