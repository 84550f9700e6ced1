import { expect, test } from "vitest";
import { isSupported, optionalTests, type Supports } from "../../src/testing/supports.js";

const supports: Supports<"with" | "without" | "bare" | "silent"> = { with: true, without: "the disk packs them", bare: false };

const ran: string[] = [];
const when = optionalTests(supports);
when("with")("what is supported runs", async () => void ran.push("with"));
when("silent")("what nothing is said of runs", async () => void ran.push("silent"));
when("without")("what a reason is given for is skipped", async () => void ran.push("without"));
when("bare")("what is declared without a reason is skipped", async () => void ran.push("bare"));

test("what is declared not to be supported did not run, and its skip gives the reason", ({ task }) => {
  expect(ran).toEqual(["with", "silent"]);
  expect(task.file.tasks.flatMap(({ result }) => (result as { note?: string } | undefined)?.note ?? [])).toEqual([
    "not supported: without (the disk packs them)",
    "not supported: bare",
  ]);
  expect((["with", "silent", "without", "bare"] as const).filter((feature) => isSupported(supports, feature))).toEqual(["with", "silent"]);
});
