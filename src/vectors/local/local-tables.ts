// Over 300 lines: the statements of one database, kept beside the tables that they read.

import { statSync } from "node:fs";
import { compactHere } from "../../platform/compaction.js";
import { AppError } from "../../platform/errors.js";
import { errnoOf } from "../../platform/file-system.js";
import { addTo } from "../../platform/lists.js";
import { assertSound, DamagedDatabase, isDamage, openSqlite, type Sqlite } from "../../platform/sqlite.js";
import { storageAdvice } from "../../platform/storage-errors.js";
import type { CreateCollectionArgs, Payload, PayloadSchema } from "../../ports/vectors.js";
import type { Collection } from "../requests/collection.js";
import type { KeptPoint } from "../requests/point.js";

const SCHEMA_VERSION = 3;
/** Rows of a scan that are read at once. */
const PAGE = 256;
/** In the place of a term: how many points have the vector at all. */
const ANY_TERM = -1;
const SCHEMA = `
CREATE TABLE collections (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, config TEXT NOT NULL, tenant_key TEXT
);
CREATE TABLE payload_indexes (
  collection INTEGER NOT NULL, field TEXT NOT NULL, schema TEXT NOT NULL, PRIMARY KEY (collection, field)
) WITHOUT ROWID;
CREATE TABLE points (
  id INTEGER PRIMARY KEY, collection INTEGER NOT NULL, key TEXT NOT NULL, tenant TEXT, payload TEXT NOT NULL,
  UNIQUE (collection, key)
);
CREATE INDEX points_of_tenant ON points (collection, tenant);
CREATE TABLE dense (point INTEGER PRIMARY KEY, vector BLOB NOT NULL);
CREATE TABLE sparse (
  point INTEGER NOT NULL, name TEXT NOT NULL, indices BLOB NOT NULL, weights BLOB NOT NULL, PRIMARY KEY (point, name)
) WITHOUT ROWID;
CREATE TABLE terms (
  collection INTEGER NOT NULL, name TEXT NOT NULL, term INTEGER NOT NULL, df INTEGER NOT NULL, PRIMARY KEY (collection, name, term)
) WITHOUT ROWID;
`;

export interface CollectionRow extends Collection {
  readonly id: number;
}
/** A point and where it lies. `tenant` null: its payload names none, or not exactly one. */
export interface PointRow extends KeptPoint {
  readonly row: number;
  readonly tenant: string | null;
}

interface RawPoint {
  id: number;
  key: string;
  tenant: string | null;
  payload: string;
  dense: Uint8Array | null;
}
/** Of a {@link RawPoint}, from `points p`. */
const POINT = "p.id, p.key, p.tenant, p.payload, d.vector AS dense";
const DENSE = "LEFT JOIN dense d ON d.point = p.id";
interface RawVector {
  point: number;
  name: string;
  indices: Uint8Array;
  weights: Uint8Array;
}

const CHECKPOINT_SOON_MS = 5_000;

/**
 * The tables of a LocalQdrant file. Derived from journals and memory logs: WAL, synchronous NORMAL (a resolved write survives a kill; a
 * power cut may take the last ones, which those who hold the truth notice), secure_delete on from creation. A checkpoint is synced: what
 * was deleted stays so. Terms are kept as 32-bit hashes with the number of points that hold them.
 */
export class LocalTables {
  readonly #db: Sqlite;
  /** As they were read since the last write. */
  readonly #collections = new Map<string, CollectionRow>();
  #checkpoint: NodeJS.Timeout | null = null;

  private constructor(db: Sqlite) {
    this.#db = db;
  }

  /** @throws STORAGE_UNAVAILABLE, STORAGE_DAMAGED (no database, or another version's) */
  static open(path: string): LocalTables {
    let db: Sqlite | undefined;
    try {
      const hasLog = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
      db = openSqlite(path);
      db.pragma("temp_store = MEMORY");
      const version = db.pragma("user_version", { simple: true });
      if (version === 0) db.exec(`BEGIN IMMEDIATE; ${SCHEMA} PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT;`);
      else if (version !== SCHEMA_VERSION)
        throw new AppError("STORAGE_DAMAGED", { detail: "The vector store's file is another version's." });
      const tables = new LocalTables(db);
      // Of a process that was killed, maybe between a replacement and its checkpoint.
      if (hasLog) tables.checkpointSoon();
      return tables;
    } catch (cause) {
      db?.close();
      if (cause instanceof AppError) throw cause;
      if (!isDamage(cause)) throw unopened(cause);
      throw new AppError("STORAGE_DAMAGED", { detail: "The vector store's file can't be read.", cause });
    }
  }

  close(): void {
    if (this.#checkpoint !== null && this.#db.open) this.checkpoint();
    this.#db.close();
  }

  /** False when a page is damaged; the others read all the same. Takes time in proportion to the file. */
  isSound(): boolean {
    try {
      assertSound(this.#db);
      return true;
    } catch (error) {
      if (!isDamage(error)) throw error;
      return false;
    }
  }

  /** All or nothing. */
  write<T>(work: () => T): T {
    try {
      return this.#db.transaction(work).immediate();
    } finally {
      this.#collections.clear();
    }
  }

  /** Moves the write-ahead log into the file and empties it, so that deleted text is in neither. */
  checkpoint(): void {
    if (this.#checkpoint !== null) clearTimeout(this.#checkpoint);
    this.#checkpoint = null;
    this.#db.pragma("wal_checkpoint(TRUNCATE)");
  }

  /** The same within five seconds, or when the file is closed: for what was replaced or changed, of which more may follow. */
  checkpointSoon(): void {
    this.#checkpoint ??= setTimeout(() => {
      if (this.#db.open) this.checkpoint();
    }, CHECKPOINT_SOON_MS).unref();
  }

  /**
   * Writes the file anew, without the gaps that page splits leave: no byte of a deleted row outlives it. Takes time in proportion
   * to the file.
   */
  rewrite(): void {
    compactHere(this.#db);
  }

  // ---- collections ----

  collection(name: string): CollectionRow | null {
    const known = this.#collections.get(name) ?? this.#readCollection(name);
    if (known !== null) this.#collections.set(name, known);
    return known;
  }

  #readCollection(name: string): CollectionRow | null {
    const row = this.#get<{ id: number; name: string; config: string; tenantKey: string | null }>(
      "SELECT id, name, config, tenant_key AS tenantKey FROM collections WHERE name = ?",
      name,
    );
    if (row === undefined) return null;
    const indexes = this.#all<{ field: string; schema: string }>("SELECT field, schema FROM payload_indexes WHERE collection = ?", row.id);
    return {
      ...row,
      config: parsed(row.config) as CreateCollectionArgs,
      indexes: new Map(indexes.map(({ field, schema }) => [field, parsed(schema) as PayloadSchema])),
    };
  }

  createCollection(name: string, config: CreateCollectionArgs): void {
    this.#run("INSERT INTO collections (name, config) VALUES (?, ?)", name, JSON.stringify(config));
  }

  deleteCollection(collection: number): void {
    for (const table of ["dense", "sparse"])
      this.#run(`DELETE FROM ${table} WHERE point IN (SELECT id FROM points WHERE collection = ?)`, collection);
    for (const table of ["points", "terms", "payload_indexes"]) this.#run(`DELETE FROM ${table} WHERE collection = ?`, collection);
    this.#run("DELETE FROM collections WHERE id = ?", collection);
  }

  putIndex(collection: number, field: string, schema: PayloadSchema): void {
    this.#run("INSERT OR REPLACE INTO payload_indexes VALUES (?, ?, ?)", collection, field, JSON.stringify(schema));
  }

  setTenantKey(collection: number, key: string): void {
    this.#run("UPDATE collections SET tenant_key = ? WHERE id = ?", key, collection);
  }

  // ---- points ----

  point(collection: number, key: string): PointRow | null {
    const raw = this.#get<RawPoint>(`SELECT ${POINT} FROM points p ${DENSE} WHERE p.collection = ? AND p.key = ?`, collection, key);
    return raw === undefined ? null : this.#kept(raw, this.#all<RawVector>("SELECT * FROM sparse WHERE point = ?", raw.id));
  }

  hasPoint(collection: number, key: string): boolean {
    return this.#get("SELECT 1 FROM points WHERE collection = ? AND key = ?", collection, key) !== undefined;
  }

  /** In id order, from `from` on, read page by page. Without vectors. */
  *payloads(collection: number, from = ""): Generator<{ key: string; payload: Payload }> {
    const page = (op: ">=" | ">", key: string) =>
      this.#all<RawPoint>(
        `SELECT key, payload FROM points WHERE collection = ? AND key ${op} ? ORDER BY key LIMIT ${PAGE}`,
        collection,
        key,
      );
    let rows = page(">=", from);
    while (rows.length > 0) {
      for (const { key, payload } of rows) yield { key, payload: parsed(payload) as Payload };
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE) return;
      rows = page(">", last.key);
    }
  }

  /** The same of one tenant (null: of those of none), in no order. */
  *payloadsOfTenant(collection: number, tenant: string | null): Generator<{ key: string; payload: Payload }> {
    const query = "SELECT key, payload FROM points INDEXED BY points_of_tenant WHERE collection = ? AND tenant IS ?";
    for (const { key, payload } of this.#all<RawPoint>(query, collection, tenant)) yield { key, payload: parsed(payload) as Payload };
  }

  /** All points of a tenant (null: those of none), with their vectors, in no order. */
  *ofTenant(collection: number, tenant: string | null): Generator<PointRow> {
    const ofTenant = "p.collection = ? AND p.tenant IS ?";
    const from = "FROM points p INDEXED BY points_of_tenant";
    const sparse = new Map<number, RawVector[]>();
    const vectors = `SELECT s.* ${from} JOIN sparse s ON s.point = p.id WHERE ${ofTenant}`;
    for (const vector of this.#all<RawVector>(vectors, collection, tenant)) addTo(sparse, vector.point, vector);
    for (const raw of this.#all<RawPoint>(`SELECT ${POINT} ${from} ${DENSE} WHERE ${ofTenant}`, collection, tenant))
      yield this.#kept(raw, sparse.get(raw.id) ?? []);
  }

  count(collection: number): number {
    return this.#get<{ n: number }>("SELECT count(*) AS n FROM points WHERE collection = ?", collection)?.n ?? 0;
  }

  countOfTenant(collection: number, tenant: string | null): number {
    return this.#get<{ n: number }>("SELECT count(*) AS n FROM points WHERE collection = ? AND tenant IS ?", collection, tenant)?.n ?? 0;
  }

  tenants(collection: number): (string | null)[] {
    return this.#all<RawPoint>("SELECT DISTINCT tenant FROM points WHERE collection = ?", collection).map(({ tenant }) => tenant);
  }

  insert(collection: number, tenant: string | null, point: KeptPoint, payloadText: string): void {
    const columns = "collection, key, tenant, payload";
    const row = this.#run(`INSERT INTO points (${columns}) VALUES (?, ?, ?, ?)`, collection, point.key, tenant, payloadText);
    this.#insertVectors(row, point);
  }

  /** Another point in the place of one with its key. */
  replace(before: PointRow, tenant: string | null, point: KeptPoint, payloadText: string): void {
    this.setPayload(before, payloadText, tenant);
    if (before.sparse.size > 0) this.#run("DELETE FROM sparse WHERE point = ?", before.row);
    if (point.dense === null) this.#run("DELETE FROM dense WHERE point = ?", before.row);
    this.#insertVectors(before.row, point);
  }

  #insertVectors(row: number | bigint, { dense, sparse }: KeptPoint): void {
    if (dense !== null)
      this.#run("INSERT INTO dense VALUES (?, ?) ON CONFLICT DO UPDATE SET vector = excluded.vector", row, bytesOf(dense));
    for (const [name, { indices, values }] of sparse)
      this.#run("INSERT INTO sparse VALUES (?, ?, ?, ?)", row, name, bytesOf(indices), bytesOf(values));
  }

  remove(point: PointRow): void {
    for (const table of ["dense", "sparse"]) this.#run(`DELETE FROM ${table} WHERE point = ?`, point.row);
    this.#run("DELETE FROM points WHERE id = ?", point.row);
  }

  /** Vectors, and the tenant's index where the point stays the tenant's, are not written. */
  setPayload({ row, tenant: before }: Pick<PointRow, "row" | "tenant">, payloadText: string, tenant: string | null): void {
    this.#run("UPDATE points SET payload = ? WHERE id = ?", payloadText, row);
    if (tenant !== before) this.#run("UPDATE points SET tenant = ? WHERE id = ?", tenant, row);
  }

  // ---- terms ----

  /** `term` null: how many points have the sparse vector at all. */
  addToTerm(collection: number, name: string, term: number | null, delta: number): void {
    const key = [collection, name, term ?? ANY_TERM] as const;
    this.#run("INSERT INTO terms VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET df = df + excluded.df", ...key, delta);
    if (delta < 0) this.#run("DELETE FROM terms WHERE collection = ? AND name = ? AND term = ? AND df <= 0", ...key);
  }

  /** How many points of the collection, of all tenants, hold the term; null: have the sparse vector. */
  documentFrequency(collection: number, name: string, term: number | null): number {
    const query = "SELECT df FROM terms WHERE collection = ? AND name = ? AND term = ?";
    return this.#get<{ df: number }>(query, collection, name, term ?? ANY_TERM)?.df ?? 0;
  }

  #kept(raw: RawPoint, sparse: readonly RawVector[]): PointRow {
    return {
      row: raw.id,
      key: raw.key,
      tenant: raw.tenant,
      payload: parsed(raw.payload) as Payload,
      payloadChars: raw.payload.length,
      dense: raw.dense === null ? null : new Float32Array(copyOf(raw.dense)),
      sparse: new Map(
        sparse.map(({ name, indices, weights }) => [
          name,
          { indices: new Uint32Array(copyOf(indices)), values: new Float32Array(copyOf(weights)) },
        ]),
      ),
    };
  }

  #all<T>(text: string, ...values: unknown[]): T[] {
    return this.#db.prepare(text).all(...values) as T[];
  }

  #get<T>(text: string, ...values: unknown[]): T | undefined {
    return this.#db.prepare(text).get(...values) as T | undefined;
  }

  /** @returns the row that was inserted last */
  #run(text: string, ...values: unknown[]): number | bigint {
    return this.#db.prepare(text).run(...values).lastInsertRowid;
  }
}

function unopened(cause: unknown): AppError {
  const errno = errnoOf(cause);
  const hint = storageAdvice(errno);
  const detail = `The vector store's file can't be opened (${errno ?? "unknown reason"}).`;
  return new AppError("STORAGE_UNAVAILABLE", { detail, ...(hint !== undefined && { hint }), cause });
}

/** What was written was JSON. The parser's own message would quote the text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new DamagedDatabase();
  }
}

function bytesOf(numbers: Float32Array | Uint32Array): Buffer {
  return Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}

/** Into memory of its own, aligned for 32-bit numbers (a pooled buffer need not be). */
function copyOf(bytes: Uint8Array): ArrayBuffer {
  if (bytes.byteLength % 4 !== 0) throw new DamagedDatabase();
  const copy = new ArrayBuffer(bytes.byteLength);
  new Uint8Array(copy).set(bytes);
  return copy;
}
