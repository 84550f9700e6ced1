import type pg from "pg";
import { missingPackage } from "../optional-package.js";

export type PostgresDriver = typeof pg;

/** An optional peer. @throws INVALID_CONFIG where it isn't installed */
export async function postgresDriver(): Promise<PostgresDriver> {
  try {
    return (await import("pg")).default;
  } catch (cause) {
    throw missingPackage({ name: "pg", setting: "DATABASE_URL" }, cause);
  }
}
