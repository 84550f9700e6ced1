import { rename } from "node:fs/promises";
import type { Logger } from "../../platform/logger.js";
import { assertSound, isDamage, openSqlite, type Sqlite } from "../../platform/sqlite.js";
import type { DailyTokens } from "../../ports/daily-tokens.js";
import type { TransferableRow, TransferableTable } from "../../ports/transfer.js";

const TABLE = `
CREATE TABLE IF NOT EXISTS spent (
  day TEXT NOT NULL,
  tenant TEXT NOT NULL,
  tokens INTEGER NOT NULL,
  PRIMARY KEY (day, tenant)
) WITHOUT ROWID`;

/** Days before the last one that was counted on are dropped when there are so many. */
const DAYS_KEPT = 31;

/**
 * Counters in SQLite. The last of them may be lost in a power cut. A damaged file is set aside as `….damaged` and counting begins anew:
 * a limit that starts from zero is better than a server that doesn't.
 */
export class SqliteDailyTokens implements DailyTokens, TransferableTable {
  readonly name = "tokens by day";
  readonly #db: Sqlite;

  private constructor(db: Sqlite) {
    this.#db = db;
  }

  /** `path` may be `:memory:`. */
  static async open({ path, logger }: { readonly path: string; readonly logger: Logger }): Promise<SqliteDailyTokens> {
    try {
      return SqliteDailyTokens.#openSound(path);
    } catch (error) {
      if (!isDamage(error)) throw error;
      logger.warn({ path, code: error.code }, "The day's token counters are damaged: they are set aside, and today's count begins anew.");
      await rename(path, `${path}.damaged`);
      return SqliteDailyTokens.#openSound(path);
    }
  }

  static #openSound(path: string): SqliteDailyTokens {
    const db = openSqlite(path, { durability: "normal" });
    try {
      db.exec(TABLE);
      assertSound(db);
      return new SqliteDailyTokens(db);
    } catch (error) {
      db.close();
      throw error;
    }
  }

  async add(tenant: string, day: string, tokens: number): Promise<void> {
    const known = this.#db.prepare<[string, string], unknown>("SELECT 1 FROM spent WHERE day = ? AND tenant = ?").get(day, tenant);
    this.#db
      .prepare(
        `INSERT INTO spent (day, tenant, tokens) VALUES (?, ?, ?)
           ON CONFLICT (day, tenant) DO UPDATE SET tokens = tokens + excluded.tokens`,
      )
      .run(day, tenant, Math.round(tokens));
    if (known === undefined)
      this.#db.prepare("DELETE FROM spent WHERE day NOT IN (SELECT DISTINCT day FROM spent ORDER BY day DESC LIMIT ?)").run(DAYS_KEPT);
  }

  async spent(tenant: string, day: string): Promise<number> {
    const row = this.#db
      .prepare<[string, string], { tokens: number }>("SELECT tokens FROM spent WHERE day = ? AND tenant = ?")
      .get(day, tenant);
    return row?.tokens ?? 0;
  }

  async tenantsFrom(day: string, tokens: number): Promise<number> {
    const row = this.#db
      .prepare<[string, number], { n: number }>("SELECT count(*) AS n FROM spent WHERE day = ? AND tokens >= ?")
      .get(day, tokens);
    return row?.n ?? 0;
  }

  async *rows(): AsyncGenerator<TransferableRow> {
    yield* this.#db.prepare<[], TransferableRow>("SELECT day, tenant, tokens FROM spent").all();
  }

  async restore(rows: readonly TransferableRow[]): Promise<void> {
    const insert = this.#db.prepare("INSERT OR IGNORE INTO spent (day, tenant, tokens) VALUES (@day, @tenant, @tokens)");
    for (const row of rows) insert.run(row);
  }

  async close(): Promise<void> {
    if (this.#db.open) this.#db.close();
  }
}
