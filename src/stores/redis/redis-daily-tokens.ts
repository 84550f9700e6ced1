import type { DailyTokens } from "../../ports/daily-tokens.js";
import type { TransferableRow, TransferableTable } from "../../ports/transfer.js";
import type { RedisDatabase } from "./database.js";

const KEPT_SECONDS = 31 * 24 * 60 * 60;

/** Counters that all processes add to: a hash for each day, which goes by itself. */
export class RedisDailyTokens implements DailyTokens, TransferableTable {
  readonly name = "tokens by day";
  readonly #database: RedisDatabase;

  constructor(database: RedisDatabase) {
    this.#database = database;
  }

  async add(tenant: string, day: string, tokens: number): Promise<void> {
    await this.#database.command("HINCRBY", this.#key(day), tenant, Math.round(tokens));
    await this.#database.command("EXPIRE", this.#key(day), KEPT_SECONDS);
  }

  async spent(tenant: string, day: string): Promise<number> {
    return Number((await this.#database.command("HGET", this.#key(day), tenant)) ?? 0);
  }

  async tenantsFrom(day: string, tokens: number): Promise<number> {
    const spent = (await this.#database.command("HVALS", this.#key(day))) as readonly string[];
    return spent.filter((each) => Number(each) >= tokens).length;
  }

  async *rows(): AsyncGenerator<TransferableRow> {
    const seen = new Set<string>();
    for await (const key of this.#database.scan("tokens:*")) {
      if (seen.has(key)) continue;
      seen.add(key);
      const day = key.slice(this.#key("").length);
      const spent = (await this.#database.command("HGETALL", key)) as readonly string[];
      for (let at = 0; at < spent.length; at += 2) yield { day, tenant: spent[at] ?? "", tokens: Number(spent[at + 1]) };
    }
  }

  async restore(rows: readonly TransferableRow[]): Promise<void> {
    for (const { day, tenant, tokens } of rows) {
      const key = this.#key(String(day));
      await this.#database.command("HSETNX", key, String(tenant), Number(tokens));
      await this.#database.command("EXPIRE", key, KEPT_SECONDS);
    }
  }

  /** Without effect: the database is the caller's. */
  async close(): Promise<void> {}

  #key(day: string): string {
    return `${this.#database.prefix}:tokens:${day}`;
  }
}
