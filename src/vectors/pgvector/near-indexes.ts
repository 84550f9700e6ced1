import { createHash } from "node:crypto";
import type { Logger } from "../../platform/logger.js";
import type { Database } from "../../platform/postgres/database.js";
import type { Filter } from "../../ports/vectors.js";
import type { Collection } from "../requests/collection.js";
import { pinnedValues } from "../requests/filter.js";
import { toField } from "./search-sql.js";

/** pgvector indexes vectors up to this length. */
const MAX_DIMENSION = 2_000;

export interface NearIndexesOptions {
  readonly database: Database;
  /** Of one connection, whose statements may take long. */
  readonly openBuilder: () => Database;
  /** The schema of the extension. */
  readonly extension: string;
  readonly logger: Logger;
  /** Up to so many points of an owner are all compared. */
  readonly exactUpTo: number;
  /** An upsert in so many looks whether its owner has more by now. */
  readonly lookEvery: number;
}

/**
 * A graph (HNSW) of the dense vectors of each owner who has more points than are quickly compared: an index of their rows alone, that
 * PostgreSQL takes where a search names the owner. Made in the background, while searches compare all.
 */
export class NearIndexes {
  readonly #options: NearIndexesOptions;
  readonly #known = new Set<string>();
  #work: Promise<void> | null = null;

  constructor(options: NearIndexesOptions) {
    this.#options = options;
  }

  /** What is indexed, as a search has to write it. */
  expression({ config }: Collection): string {
    return `(dense::"${this.#options.extension}".vector(${config.vectors.size}))`;
  }

  /** As far as this process knows: those that it made, or found when it looked. */
  isIndexed(collection: Collection, filter: Filter | undefined): boolean {
    const owners = ownersOf(collection, filter);
    return owners.length === 1 && owners.every((owner) => this.#known.has(nameOf(collection.name, owner)));
  }

  wrote(collection: Collection, owner: string): void {
    if (this.#work !== null || collection.config.vectors.size > MAX_DIMENSION || Math.random() * this.#options.lookEvery >= 1) return;
    this.#work = this.#look(collection, owner)
      .catch((err: unknown) =>
        this.#options.logger.warn({ err }, "An index of vectors could not be made; searches compare all of the owner's"),
      )
      .finally(() => {
        this.#work = null;
      });
  }

  /** The name of an owner of whom all was deleted stays in no index. */
  async deleted(collection: Collection, filter: Filter | undefined): Promise<void> {
    const all = filter?.must?.length === 1 && (filter.must_not ?? []).length === 0;
    for (const owner of all ? ownersOf(collection, filter) : []) await this.#drop(nameOf(collection.name, owner));
  }

  async dropAll(collection: string): Promise<void> {
    const { database } = this.#options;
    const rows = await database.query("SELECT indexname FROM pg_indexes WHERE schemaname = $1 AND indexname LIKE $2", [
      database.schema,
      `${prefixOf(collection)}%`,
    ]);
    for (const { indexname } of rows) await this.#drop(String(indexname));
  }

  /** Resolves when none is being made. */
  async settled(): Promise<void> {
    await this.#work;
  }

  /** After the one that is being made: it may be this. Searches go on meanwhile. */
  async #drop(name: string): Promise<void> {
    await this.#work;
    this.#known.delete(name);
    await this.#options.database.queryOnce(`DROP INDEX CONCURRENTLY IF EXISTS {${name}}`);
  }

  async #look(collection: Collection, owner: string): Promise<void> {
    const { database, openBuilder, extension, exactUpTo } = this.#options;
    const name = nameOf(collection.name, owner);
    const [row] = await database.query(
      `SELECT (SELECT count(*) FROM {vector_points} WHERE collection = $1 AND owner = $2) > $3 AS many,
        (SELECT i.indisvalid FROM pg_index i WHERE i.indexrelid = to_regclass($4)) AS valid`,
      [collection.name, owner, exactUpTo, `"${database.schema}".${name}`],
    );
    if (row?.valid === true) this.#known.add(name);
    if (row?.many !== true || row.valid === true) return;
    const builder = openBuilder();
    try {
      // One that was interrupted is of no use.
      await builder.queryOnce(`DROP INDEX CONCURRENTLY IF EXISTS {${name}}`);
      await builder.queryOnce(
        `CREATE INDEX CONCURRENTLY ${name} ON {vector_points} USING hnsw (${this.expression(collection)} "${extension}".vector_ip_ops)
         WHERE collection = ${literal(collection.name)} AND owner = ${literal(owner)}`,
      );
      this.#known.add(name);
    } finally {
      await builder.close();
    }
  }
}

function ownersOf({ tenantKey }: Collection, filter: Filter | undefined): string[] {
  const pinned = tenantKey === null ? null : pinnedValues(filter, tenantKey);
  return [...(pinned ?? [])].map((owner) => String(toField(owner)));
}

function prefixOf(collection: string): string {
  return `near_${hashed(collection)}_`;
}

function nameOf(collection: string, owner: string): string {
  return prefixOf(collection) + hashed(owner);
}

/** Letters alone, as names in braces have them. */
function hashed(text: string): string {
  return createHash("sha256")
    .update(text)
    .digest("hex")
    .slice(0, 24)
    .replace(/\d/g, (digit) => "ghijklmnop".charAt(Number(digit)));
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
