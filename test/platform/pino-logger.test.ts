import { describe, expect, test } from "vitest";
import { AppError } from "../../src/platform/errors.js";
import { createLogger } from "../../src/platform/pino-logger.js";

const SAID = "I am allergic to nuts";

function logged(error: unknown, content: boolean): string {
  const lines: string[] = [];
  createLogger({ level: "info", content, destination: { write: (line) => lines.push(line) } }).error({ err: error }, "it failed");
  return lines.join("");
}

describe("the log", () => {
  test("[no-text-in-logs] tells a foreign error by its kind and place, and not by its text, which can quote what a user said", () => {
    const foreign = new TypeError(`unexpected: ${SAID}`, { cause: new Error(SAID) });
    const line = logged(foreign, false);
    expect(line).not.toContain(SAID);
    expect(JSON.parse(line)).toMatchObject({ level: "error", msg: "it failed", err: { type: "TypeError", cause: { type: "Error" } } });
  });

  test("has that text where LOG_CONTENT asks for it, and our own errors' always", () => {
    expect(logged(new Error(SAID), true)).toContain(SAID);
    expect(logged(new AppError("SESSION_NOT_FOUND"), false)).toContain("SESSION_NOT_FOUND");
  });
});
