// Over 300 lines: the statements of one database, kept beside the tables that they read.

import type { Statement } from "better-sqlite3";
import { AppError } from "../../platform/errors.js";
import { errnoOf } from "../../platform/file-system.js";
import { assertSound, DamagedDatabase, isDamage, openDatabase, type Sqlite } from "../../platform/sqlite.js";
import { storageAdvice } from "../../platform/storage-errors.js";
import type { CreateCollectionArgs, Payload, PayloadSchema } from "../../ports/vectors.js";
import type { KeptPoint } from "./partition.js";
import type { KeptSparse } from "./sparse-index.js";

const SCHEMA_VERSION = 2;
/** Rows of a scan that are read at once. */
const PAGE = 256;
/** In the place of a term: how many points have the vector at all. */
const ANY_TERM = -1;
const SCHEMA = `
CREATE TABLE collections (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, config TEXT NOT NULL, tenant_key TEXT, points INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE payload_indexes (
  collection INTEGER NOT NULL, field TEXT NOT NULL, schema TEXT NOT NULL, PRIMARY KEY (collection, field)
) WITHOUT ROWID;
CREATE TABLE points (
  id INTEGER PRIMARY KEY, collection INTEGER NOT NULL, key TEXT NOT NULL, tenant TEXT, payload TEXT NOT NULL, dense BLOB,
  UNIQUE (collection, key)
);
CREATE INDEX points_of_tenant ON points (collection, tenant);
CREATE TABLE sparse (
  point INTEGER NOT NULL, name TEXT NOT NULL, indices BLOB NOT NULL, weights BLOB NOT NULL, PRIMARY KEY (point, name)
) WITHOUT ROWID;
CREATE TABLE terms (
  collection INTEGER NOT NULL, name TEXT NOT NULL, term INTEGER NOT NULL, df INTEGER NOT NULL, PRIMARY KEY (collection, name, term)
) WITHOUT ROWID;
`;

/** From version 1, which did not count vectors. */
const COUNT_VECTORS = `
INSERT OR REPLACE INTO terms SELECT p.collection, s.name, ${ANY_TERM}, count(*)
FROM sparse s JOIN points p ON p.id = s.point GROUP BY p.collection, s.name;
`;

export interface CollectionRow {
  readonly id: number;
  readonly name: string;
  readonly config: CreateCollectionArgs;
  readonly tenantKey: string | null;
  readonly points: number;
  readonly indexes: ReadonlyMap<string, PayloadSchema>;
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

const CHECKPOINT_SOON_MS = 5_000;

/**
 * The tables of a LocalQdrant file. Derived from journals and memory logs: WAL, synchronous NORMAL (a resolved write survives a kill; a
 * power cut may take the last ones, which those who hold the truth notice), secure_delete on from creation. A checkpoint is synced: what
 * was deleted stays so. Terms are kept as 32-bit hashes with the number of points that hold them.
 */
export class LocalTables {
  readonly #db: Sqlite;
  readonly #statements = new Map<string, Statement<unknown[], unknown>>();
  /** As they were read since the last write. */
  readonly #collections = new Map<string, CollectionRow>();
  #checkpoint: NodeJS.Timeout | null = null;

  private constructor(db: Sqlite) {
    this.#db = db;
  }

  /** @throws STORAGE_UNAVAILABLE, STORAGE_DAMAGED (no database, or a newer version's) */
  static open(path: string): LocalTables {
    let db: Sqlite;
    try {
      db = openDatabase(path);
    } catch (cause) {
      throw unopened(cause);
    }
    try {
      db.pragma("secure_delete = ON");
      db.pragma("journal_mode = WAL");
      db.pragma("synchronous = NORMAL");
      db.pragma("temp_store = MEMORY");
      const version = db.pragma("user_version", { simple: true });
      if (version === 0) db.transaction(() => db.exec(`${SCHEMA} PRAGMA user_version = ${SCHEMA_VERSION};`)).immediate();
      else if (version === 1) db.transaction(() => db.exec(`${COUNT_VECTORS} PRAGMA user_version = ${SCHEMA_VERSION};`)).immediate();
      else if (version !== SCHEMA_VERSION)
        throw new AppError("STORAGE_DAMAGED", { detail: "The vector store's file is another version's." });
      return new LocalTables(db);
    } catch (cause) {
      db.close();
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
    this.#db.exec("VACUUM");
    this.checkpoint();
  }

  // ---- collections ----

  collection(name: string): CollectionRow | null {
    const known = this.#collections.get(name) ?? this.#readCollection(name);
    if (known !== null) this.#collections.set(name, known);
    return known;
  }

  #readCollection(name: string): CollectionRow | null {
    const row = this.#sql("SELECT id, name, config, tenant_key AS tenantKey, points FROM collections WHERE name = ?").get(name) as
      | { id: number; name: string; config: string; tenantKey: string | null; points: number }
      | undefined;
    if (row === undefined) return null;
    const indexes = this.#sql("SELECT field, schema FROM payload_indexes WHERE collection = ?").all(row.id) as {
      field: string;
      schema: string;
    }[];
    return {
      ...row,
      config: parsed(row.config) as CreateCollectionArgs,
      indexes: new Map(indexes.map(({ field, schema }) => [field, parsed(schema) as PayloadSchema])),
    };
  }

  createCollection(name: string, config: CreateCollectionArgs): void {
    this.#sql("INSERT INTO collections (name, config) VALUES (?, ?)").run(name, JSON.stringify(config));
  }

  deleteCollection(collection: number): void {
    this.#sql("DELETE FROM sparse WHERE point IN (SELECT id FROM points WHERE collection = ?)").run(collection);
    for (const table of ["points", "terms", "payload_indexes"]) this.#sql(`DELETE FROM ${table} WHERE collection = ?`).run(collection);
    this.#sql("DELETE FROM collections WHERE id = ?").run(collection);
  }

  putIndex(collection: number, field: string, schema: PayloadSchema): void {
    this.#sql("INSERT OR REPLACE INTO payload_indexes VALUES (?, ?, ?)").run(collection, field, JSON.stringify(schema));
  }

  setTenantKey(collection: number, key: string): void {
    this.#sql("UPDATE collections SET tenant_key = ? WHERE id = ?").run(key, collection);
  }

  // ---- points ----

  point(collection: number, key: string): PointRow | null {
    const raw = this.#sql("SELECT * FROM points WHERE collection = ? AND key = ?").get(collection, key) as RawPoint | undefined;
    return raw === undefined ? null : this.#kept(raw, this.#sparseOf(raw.id));
  }

  hasPoint(collection: number, key: string): boolean {
    return this.#sql("SELECT 1 FROM points WHERE collection = ? AND key = ?").get(collection, key) !== undefined;
  }

  /** In id order, from `from` on, read page by page. Without vectors. */
  *payloads(collection: number, from = ""): Generator<{ key: string; payload: Payload }> {
    let rows = this.#page("SELECT key, payload FROM points WHERE collection = ? AND key >= ? ORDER BY key LIMIT ?", collection, from);
    while (rows.length > 0) {
      for (const row of rows) yield { key: row.key, payload: parsed(row.payload) as Payload };
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE) return;
      rows = this.#page("SELECT key, payload FROM points WHERE collection = ? AND key > ? ORDER BY key LIMIT ?", collection, last.key);
    }
  }

  #page(text: string, collection: number, key: string): { key: string; payload: string }[] {
    return this.#sql(text).all(collection, key, PAGE) as { key: string; payload: string }[];
  }

  /** The same of one tenant (null: of those of none), in no order. */
  *payloadsOfTenant(collection: number, tenant: string | null): Generator<{ key: string; payload: Payload }> {
    const rows = this.#sql("SELECT key, payload FROM points INDEXED BY points_of_tenant WHERE collection = ? AND tenant IS ?");
    for (const { key, payload } of rows.all(collection, tenant) as { key: string; payload: string }[])
      yield { key, payload: parsed(payload) as Payload };
  }

  /** All points of a tenant (null: those of none), with their vectors, in no order. */
  *ofTenant(collection: number, tenant: string | null): Generator<PointRow> {
    const sparse = new Map<number, Map<string, KeptSparse>>();
    const vectors = this.#sql(
      "SELECT s.* FROM points p INDEXED BY points_of_tenant JOIN sparse s ON s.point = p.id WHERE p.collection = ? AND p.tenant IS ?",
    ).all(collection, tenant) as { point: number; name: string; indices: Uint8Array; weights: Uint8Array }[];
    for (const vector of vectors) {
      const ofPoint = sparse.get(vector.point) ?? new Map<string, KeptSparse>();
      sparse.set(vector.point, ofPoint.set(vector.name, keptSparse(vector)));
    }
    const rows = this.#sql("SELECT * FROM points INDEXED BY points_of_tenant WHERE collection = ? AND tenant IS ?");
    for (const raw of rows.all(collection, tenant) as RawPoint[]) yield this.#kept(raw, sparse.get(raw.id) ?? new Map());
  }

  countOfTenant(collection: number, tenant: string | null): number {
    const row = this.#sql("SELECT count(*) AS n FROM points WHERE collection = ? AND tenant IS ?").get(collection, tenant) as { n: number };
    return row.n;
  }

  tenants(collection: number): (string | null)[] {
    const rows = this.#sql("SELECT DISTINCT tenant FROM points WHERE collection = ?").all(collection) as { tenant: string | null }[];
    return rows.map(({ tenant }) => tenant);
  }

  insert(collection: number, tenant: string | null, point: KeptPoint, payloadText: string): void {
    const { lastInsertRowid } = this.#sql("INSERT INTO points (collection, key, tenant, payload, dense) VALUES (?, ?, ?, ?, ?)").run(
      collection,
      point.key,
      tenant,
      payloadText,
      point.dense === null ? null : bytesOf(point.dense),
    );
    for (const [name, vector] of point.sparse)
      this.#sql("INSERT INTO sparse VALUES (?, ?, ?, ?)").run(lastInsertRowid, name, bytesOf(vector.indices), bytesOf(vector.values));
  }

  remove(point: PointRow): void {
    this.#sql("DELETE FROM sparse WHERE point = ?").run(point.row);
    this.#sql("DELETE FROM points WHERE id = ?").run(point.row);
  }

  setPayload(row: number, payloadText: string, tenant: string | null): void {
    this.#sql("UPDATE points SET payload = ?, tenant = ? WHERE id = ?").run(payloadText, tenant, row);
  }

  addToCount(collection: number, delta: number): void {
    if (delta !== 0) this.#sql("UPDATE collections SET points = points + ? WHERE id = ?").run(delta, collection);
  }

  // ---- terms ----

  addToVectors(collection: number, name: string, delta: number): void {
    this.addToTerm(collection, name, ANY_TERM, delta);
  }

  /** How many points of the collection, of all tenants, have the sparse vector. */
  vectorCount(collection: number, name: string): number {
    return this.documentFrequency(collection, name, ANY_TERM);
  }

  addToTerm(collection: number, name: string, term: number, delta: number): void {
    this.#sql("INSERT INTO terms VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET df = df + excluded.df").run(collection, name, term, delta);
    if (delta < 0) this.#sql("DELETE FROM terms WHERE collection = ? AND name = ? AND term = ? AND df <= 0").run(collection, name, term);
  }

  /** How many points of the collection, of all tenants, hold the term. */
  documentFrequency(collection: number, name: string, term: number): number {
    const row = this.#sql("SELECT df FROM terms WHERE collection = ? AND name = ? AND term = ?").get(collection, name, term);
    return (row as { df: number } | undefined)?.df ?? 0;
  }

  #sparseOf(row: number): Map<string, KeptSparse> {
    const rows = this.#sql("SELECT * FROM sparse WHERE point = ?").all(row) as { name: string; indices: Uint8Array; weights: Uint8Array }[];
    return new Map(rows.map((vector) => [vector.name, keptSparse(vector)]));
  }

  #kept(raw: RawPoint, sparse: Map<string, KeptSparse>): PointRow {
    return {
      row: raw.id,
      key: raw.key,
      tenant: raw.tenant,
      payload: parsed(raw.payload) as Payload,
      payloadChars: raw.payload.length,
      dense: raw.dense === null ? null : new Float32Array(copyOf(raw.dense)),
      sparse,
    };
  }

  #sql(text: string): Statement<unknown[], unknown> {
    let statement = this.#statements.get(text);
    if (statement === undefined) {
      statement = this.#db.prepare(text);
      this.#statements.set(text, statement);
    }
    return statement;
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

function keptSparse(raw: { indices: Uint8Array; weights: Uint8Array }): KeptSparse {
  return { indices: new Uint32Array(copyOf(raw.indices)), values: new Float32Array(copyOf(raw.weights)) };
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
