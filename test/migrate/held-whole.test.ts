import { expect, test } from "vitest";
import { heldWhole } from "../../src/compose/engine.js";
import { AppError } from "../../src/platform/errors.js";

test("a store that another command holds as a whole is said to be in use, by its name", async () => {
  const busy = { acquire: () => Promise.reject(new AppError("SESSION_BUSY")), revoke: async () => {} };
  await expect(heldWhole(busy, "PostgreSQL")).rejects.toMatchObject({
    code: "STORAGE_IN_USE",
    message: expect.stringContaining("PostgreSQL is being moved, or encrypted anew, by another command."),
  });
  const down = { ...busy, acquire: () => Promise.reject(new AppError("STORAGE_UNAVAILABLE")) };
  await expect(heldWhole(down, "PostgreSQL")).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE" });
});
