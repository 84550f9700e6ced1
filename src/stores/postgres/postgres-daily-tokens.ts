import type { DailyTokens } from "../../ports/daily-tokens.js";
import type { TransferableRow, TransferableTable } from "../../ports/transfer.js";
import type { Queries } from "./database.js";

/** Days before the last one that was counted on are dropped when there are so many. */
const DAYS_KEPT = 31;

/** Counters that all processes add to. */
export class PostgresDailyTokens implements DailyTokens, TransferableTable {
  readonly name = "tokens by day";
  readonly #database: Queries;

  constructor(database: Queries) {
    this.#database = database;
  }

  async add(tenant: string, day: string, tokens: number): Promise<void> {
    const [row] = await this.#database.query(
      `INSERT INTO {daily_tokens} AS d (day, tenant, tokens) VALUES ($1, $2, $3)
       ON CONFLICT (day, tenant) DO UPDATE SET tokens = d.tokens + excluded.tokens RETURNING tokens`,
      [day, tenant, Math.round(tokens)],
    );
    if (Number(row?.tokens) !== Math.round(tokens)) return;
    await this.#database.run(
      `DELETE FROM {daily_tokens}
       WHERE day < (SELECT min(day) FROM (SELECT DISTINCT day FROM {daily_tokens} ORDER BY day DESC LIMIT $1) kept)`,
      [DAYS_KEPT],
    );
  }

  async spent(tenant: string, day: string): Promise<number> {
    const [row] = await this.#database.query("SELECT tokens FROM {daily_tokens} WHERE day = $1 AND tenant = $2", [day, tenant]);
    return Number(row?.tokens ?? 0);
  }

  async tenantsFrom(day: string, tokens: number): Promise<number> {
    const [row] = await this.#database.query("SELECT count(*) AS n FROM {daily_tokens} WHERE day = $1 AND tokens >= $2", [day, tokens]);
    return Number(row?.n ?? 0);
  }

  async *rows(): AsyncGenerator<TransferableRow> {
    const rows = await this.#database.query("SELECT day, tenant, tokens FROM {daily_tokens}");
    yield* rows.map(({ day, tenant, tokens }) => ({ day: String(day), tenant: String(tenant), tokens: Number(tokens) }));
  }

  async restore(rows: readonly TransferableRow[]): Promise<void> {
    for (const { day, tenant, tokens } of rows)
      await this.#database.run("INSERT INTO {daily_tokens} (day, tenant, tokens) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", [
        day,
        tenant,
        tokens,
      ]);
  }

  /** Without effect: the database is the caller's. */
  async close(): Promise<void> {}
}
