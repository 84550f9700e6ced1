import { expect, test } from "vitest";
import { AppError } from "../../src/platform/errors.js";
import type { Backups } from "../../src/ports/backups.js";
import { run } from "./run.js";

const REPORT = { v: 1, at: "2026-03-01T10:00:00.000Z", maitred: "1.2.3", sessions: 3, files: 9 } as const;
const asked: string[] = [];
const backups: Backups = {
  backUp: async (to, { onProgress }) => {
    asked.push(`to ${to}`);
    onProgress(9, 9);
    return REPORT;
  },
  restore: async (from) => {
    asked.push(`from ${from}`);
    return REPORT;
  },
};
const parts = { backups: async () => backups };

test("backup and restore say what they copied, and what is to be known of it", async () => {
  const made = await run(["backup", "/safe/copy"], { parts });
  expect(made).toMatchObject({ code: 0, stderr: "" });
  expect(made.stdout).toContain("3 sessions in 9 files, as of 2026-03-01T10:00:00.000Z or later: /safe/copy");
  expect(made.stdout).toContain("repeat their erasure after a restore");
  const restored = await run(["--json", "restore", "/safe/copy"], { parts });
  expect(JSON.parse(restored.stdout)).toEqual(REPORT);
  expect(asked).toEqual(["to /safe/copy", "from /safe/copy"]);
});

test("they work on the storage directory itself, and end as errors do", async () => {
  expect((await run(["--url", "http://127.0.0.1:1", "backup", "/safe/copy"], { parts })).code).toBe(2);
  const refusing = async (): Promise<Backups> => ({ ...backups, restore: () => Promise.reject(new AppError("STORAGE_IN_USE")) });
  expect((await run(["restore", "/safe/copy"], { parts: { backups: refusing } })).code).toBe(4);
});
