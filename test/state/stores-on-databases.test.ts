import { needing } from "../support/needing.js";
import { storesOver } from "./stores-over.js";

needing("postgres")("stores over PostgreSQL", () => storesOver("PostgreSQL"));
needing("redis")("stores over Redis", () => storesOver("Redis"));
