import { expect, test } from "vitest";
import type { EncryptionCommands } from "../../src/compose/encryption-commands.js";
import { AppError } from "../../src/platform/errors.js";
import { run } from "./run.js";

const asked: unknown[] = [];
const commands: EncryptionCommands = {
  encrypt: async () => ({ values: 3, journals: 2, points: 1 }),
  decrypt: async () => {
    throw new AppError("STORAGE_IN_USE");
  },
  rotate: async () => 4,
  renew: async (owner) => {
    asked.push(owner);
    return { values: 5, journals: 1, points: 2 };
  },
  save: async (path) => {
    asked.push(path);
    return 6;
  },
  load: async () => 7,
};
const maitred = (...argv: string[]) => run(argv, { parts: { encryption: async () => commands } });

test("encryption is taken on and off, rotated, saved and loaded from the command line", async () => {
  expect(await maitred("encrypt")).toMatchObject({ code: 0, stdout: expect.stringContaining("3 values, 2 journals and 1 vectors") });
  expect(await maitred("decrypt")).toMatchObject({ code: 4 });
  expect(await maitred("keys", "rotate")).toMatchObject({ code: 0, stdout: expect.stringContaining("4 partitions") });
  expect(await maitred("--user", "ada", "keys", "rotate", "--owner")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("5 values"),
  });
  expect(await maitred("keys", "save", "keys.jsonl")).toMatchObject({ code: 0, stdout: expect.stringContaining("keys.jsonl") });
  expect(await maitred("--json", "keys", "load", "keys.jsonl")).toMatchObject({ code: 0, stdout: '{"keys":7}\n' });
  expect(asked).toEqual(["default:ada", "keys.jsonl"]);
});

test("nothing of it goes through a server", async () => {
  expect(await maitred("--url", "http://127.0.0.1:9", "encrypt")).toMatchObject({ code: 2 });
});
