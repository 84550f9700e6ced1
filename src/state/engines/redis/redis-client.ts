import { missingPackage } from "../../../platform/optional-package.js";

export type RedisClient = Pick<typeof import("ioredis"), "Cluster" | "Redis">;

/** An optional peer. @throws INVALID_CONFIG where it isn't installed */
export async function redisClient(): Promise<RedisClient> {
  try {
    const client: Partial<RedisClient> & { readonly default: unknown } = await import("ioredis");
    // A bundler that splits gives a CommonJS package as its default alone.
    return client.Redis !== undefined && client.Cluster !== undefined ? (client as RedisClient) : (client.default as RedisClient);
  } catch (cause) {
    throw missingPackage({ name: "ioredis", setting: "REDIS_URL" }, cause);
  }
}
