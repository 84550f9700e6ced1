import { needing } from "../support/needing.js";
import { storesOver } from "./stores-over.js";

needing("cosmos")("stores over Cosmos DB", () => storesOver("Cosmos DB"));
