import { expect, test } from "vitest";
import { asStorageError } from "../../src/platform/storage-errors.js";

function refusal(code: string): unknown {
  return asStorageError(Object.assign(new Error(code), { code }));
}

test.each(["ENOSPC", "EDQUOT", "SQLITE_FULL"])("%s says that space has to be freed", (code) => {
  expect(refusal(code)).toMatchObject({ code: "STORAGE_UNAVAILABLE", hint: expect.stringContaining("free space") });
});

test.each([
  ["EACCES", /write access/],
  ["SQLITE_READONLY_DIRECTORY", /write access/],
  ["EMFILE", /ulimit/],
  ["EIO", /disk answers with errors/],
  ["SQLITE_IOERR_WRITE", /disk answers with errors/],
  ["ENOENT", /directory is gone/],
])("%s says what has to be done about it", (code, advice) => {
  expect(refusal(code)).toMatchObject({ code: "STORAGE_UNAVAILABLE", hint: expect.stringMatching(advice) });
});

test.each(["ETIMEDOUT", "SQLITE_BUSY"])("%s may pass by itself: trying again is the advice", (code) => {
  expect(refusal(code)).toMatchObject({ code: "STORAGE_UNAVAILABLE", hint: expect.stringMatching(/^Try again soon/) });
});
