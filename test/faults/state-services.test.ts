import { failingCosmos, failingPostgres, failingRedis } from "./failing-engines.js";
import { whileItFails } from "./state-service.js";

whileItFails([
  { part: "State in PostgreSQL", program: "postgres", open: failingPostgres },
  { part: "State in Redis", program: "redis", open: failingRedis },
  { part: "State in Cosmos DB", program: "cosmos", open: failingCosmos },
]);
