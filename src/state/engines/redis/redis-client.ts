import { missingPackage } from "../../../platform/optional-package.js";

export type RedisClient = Pick<typeof import("ioredis"), "Cluster" | "Redis">;

/** An optional peer. @throws INVALID_CONFIG where it isn't installed */
export async function redisClient(): Promise<RedisClient> {
  try {
    return await import("ioredis");
  } catch (cause) {
    throw missingPackage({ name: "ioredis", setting: "REDIS_URL" }, cause);
  }
}
