import { describe, expect, test } from "vitest";
import type { MigrateState } from "../../src/cli/migrate.js";
import type { MigrationReport } from "../../src/operations/migrate.js";
import { AppError } from "../../src/platform/errors.js";
import { run } from "./run.js";

const COUNTS = { users: 2, sessions: 3, messages: 40, images: 1, memory_log_entries: 5, ledgers: 2, rows: { bookings: 4 } };
const REPORT: MigrationReport = {
  source: COUNTS,
  target: COUNTS,
  moved: 3,
  left_behind: { damaged_records: 0, damaged_journals: 0 },
  differences: [],
};
const ARGV = ["migrate", "--from", "file", "--to", "postgres"];
const moving = (report: MigrationReport, argv: readonly string[] = ARGV) => {
  const asked: unknown[] = [];
  const migrate: MigrateState = async (backends, { onProgress }) => {
    asked.push(backends);
    onProgress(1, 6);
    return report;
  };
  return run(argv, { parts: { migrate: () => migrate } }).then((ran) => ({ ...ran, asked }));
};

describe("migrate", () => {
  test("says what both stores hold, and that it is the same", async () => {
    const ran = await moving(REPORT);
    expect(ran).toMatchObject({ code: 0, stderr: "", asked: [{ from: "file", to: "postgres" }] });
    expect(ran.stdout).toMatch(/file +postgres\n/u);
    expect(ran.stdout).toMatch(/memory log entries +5 +5\n/u);
    expect(ran.stdout).toMatch(/bookings +4 +4\n/u);
    expect(ran.stdout).toContain("The same in both");
    expect(ran.stdout).toContain("Start servers on postgres only");
    expect(JSON.parse((await moving(REPORT, ["--json", ...ARGV])).stdout)).toEqual(REPORT);
  });

  test("a difference, or what was left behind, is told and ends with 6", async () => {
    const differing = await moving({ ...REPORT, differences: ["user default:alice"] });
    expect(differing.code).toBe(6);
    expect(differing.stderr).toContain("Not the same: user default:alice");
    expect(differing.stdout).not.toContain("The same");
    const left = await moving({ ...REPORT, left_behind: { damaged_records: 2, damaged_journals: 1 } });
    expect(left.code).toBe(6);
    expect(left.stderr).toContain("Left behind: 2 damaged records, 1 journals whose owner can't be told.");
  });

  test("wants two stores that it knows, and works on the stores themselves", async () => {
    expect((await moving(REPORT, ["migrate", "--from", "file"])).code).toBe(2);
    expect((await moving(REPORT, ["migrate", "--from", "file", "--to", "memory"])).code).toBe(2);
    const same = await moving(REPORT, ["migrate", "--from", "redis", "--to", "redis"]);
    expect(same).toMatchObject({ code: 2, asked: [] });
    expect(same.stderr).toContain("Name two stores");
    expect((await moving(REPORT, ["--url", "http://127.0.0.1:1", ...ARGV])).code).toBe(2);
  });

  test("a store in use, or one that holds something else, changes nothing and says what to do", async () => {
    const refusing = (code: "STORAGE_IN_USE" | "TARGET_NOT_EMPTY") =>
      run(ARGV, { parts: { migrate: () => () => Promise.reject(new AppError(code)) } });
    expect((await refusing("STORAGE_IN_USE")).code).toBe(4);
    const taken = await refusing("TARGET_NOT_EMPTY");
    expect(taken.code).toBe(2);
    expect(taken.stderr).toContain("Give an empty one");
  });
});
