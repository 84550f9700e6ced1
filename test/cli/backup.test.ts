import { expect, test } from "vitest";
import type { Backups } from "../../src/operations/backup.js";
import { AppError } from "../../src/platform/errors.js";
import { run } from "./run.js";

const HOLDS = { users: 2, sessions: 3, messages: 40, images: 1, memory_log_entries: 5, ledgers: 2, rows: { bookings: 4 } };
const NOTHING = { damaged_records: 0, damaged_journals: 0 };
const AT = "2026-03-01T10:00:00.000Z";
const MADE = { v: 1, at: AT, maitred: "1.2.3", sha256: "5a", holds: HOLDS, left_behind: NOTHING } as const;
const BACK = { at: AT, source: HOLDS, target: HOLDS, moved: 60, left_behind: NOTHING, differences: [] };
const asked: string[] = [];
const backups: Backups = {
  backUp: async (to, { onProgress }) => {
    asked.push(`to ${to}`);
    onProgress(9, 9);
    return MADE;
  },
  restore: async (from) => {
    asked.push(`from ${from}`);
    return BACK;
  },
};
const partsOf = (more: Partial<Backups> = {}) => ({ parts: { backups: async () => ({ ...backups, ...more }) } });

test("backup and restore say what they copied, and what is to be known of it", async () => {
  const made = await run(["backup", "/safe/copy"], partsOf());
  expect(made).toMatchObject({ code: 0, stderr: "" });
  expect(made.stdout).toContain("2 users, 3 sessions, 40 messages: /safe/copy");
  expect(made.stdout).toContain(`What was answered before ${AT} is in it.`);
  expect(made.stdout).toContain("repeat their erasure after a restore");
  const restored = await run(["restore", "/safe/copy"], partsOf());
  expect(restored.stdout).toContain(`2 users and 3 sessions are back, as of ${AT}`);
  expect(restored.stdout).toContain("reindex --memories");
  expect(JSON.parse((await run(["--json", "restore", "/safe/copy"], partsOf())).stdout)).toEqual(BACK);
  expect(asked).toEqual(["to /safe/copy", "from /safe/copy", "from /safe/copy"]);
});

test("what could not be read, or is not the same, is told and ends with 6", async () => {
  const left_behind = { damaged_records: 2, damaged_journals: 0 };
  const made = await run(["backup", "/safe/copy"], partsOf({ backUp: async () => ({ ...MADE, left_behind }) }));
  expect(made).toMatchObject({ code: 6, stderr: expect.stringContaining("Left behind: 2 damaged records.") });
  const differing = partsOf({ restore: async () => ({ ...BACK, differences: ["user default:alice"] }) });
  const restored = await run(["restore", "/safe/copy"], differing);
  expect(restored).toMatchObject({ code: 6, stderr: expect.stringContaining("Not the same: user default:alice") });
  expect(restored.stdout).not.toContain("are back");
});

test("they work on the stores themselves, and end as errors do", async () => {
  expect((await run(["--url", "http://127.0.0.1:1", "backup", "/safe/copy"], partsOf())).code).toBe(2);
  const refusing = partsOf({ restore: () => Promise.reject(new AppError("STORAGE_IN_USE")) });
  expect((await run(["restore", "/safe/copy"], refusing)).code).toBe(4);
});
