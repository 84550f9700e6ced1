import { describe } from "vitest";
import { storesOver } from "./stores-over.js";

for (const engine of ["memory", "encrypted", "SQLite"] as const) describe(`stores over ${engine}`, () => storesOver(engine));
