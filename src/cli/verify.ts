import { readFile } from "node:fs/promises";
import { type BookingReceipt, bookingReceiptSchema } from "../domain/booking-receipt.js";
import { receiptProblems } from "../gate/booking-receipt.js";
import { AppError } from "../platform/errors.js";
import { EXIT, type ExitCode } from "./exit-codes.js";
import type { Terminal } from "./terminal.js";

/** Replays the verdicts of a file's receipts, and follows their chain: it needs nothing but the file. */
export async function verifyCommand(terminal: Terminal, file: string): Promise<ExitCode> {
  const receipts = receiptsIn(await readFile(file, "utf8"));
  const problems = receiptProblems(receipts);
  const emptied = receipts.filter(({ body }) => body === null).length;
  terminal.result({ receipts: receipts.length, emptied, problems });
  for (const { number, at, body } of terminal.interactive ? receipts : [])
    terminal.line(`${number}  ${at}  ${body === null ? "what was checked is forgotten" : `${body.tool}: ${body.booked}`}`);
  for (const problem of problems) terminal.line(terminal.colours.red(problem));
  if (problems.length > 0) return EXIT.attention;
  const without = emptied === 0 ? "" : `, ${emptied} of them without what was checked`;
  terminal.line(terminal.colours.green(`${receipts.length} receipts${without}: each verdict follows, and the chain holds.`));
  return EXIT.ok;
}

/** Of one, of a list, of a page of the API, of an export, or a document a line. @throws INVALID_REQUEST */
function receiptsIn(text: string): readonly BookingReceipt[] {
  const found = documentsIn(text).flatMap((document) => {
    const { receipts, data } = (typeof document === "object" && document !== null ? document : {}) as Record<string, unknown>;
    return [receipts, data, document].find(Array.isArray) ?? [document];
  });
  return found.map((each, place) => {
    const { success, data } = bookingReceiptSchema.safeParse(each);
    if (success) return data;
    throw new AppError("INVALID_REQUEST", {
      detail: `Number ${place + 1} in the file is no receipt of a booking.`,
      hint: "Save what GET /v1/me/receipts gives, or an export.",
    });
  });
}

function documentsIn(text: string): readonly unknown[] {
  const parsed = (json: string): unknown => {
    try {
      return JSON.parse(json);
    } catch (error) {
      throw new AppError("INVALID_REQUEST", { detail: "The file is not JSON, nor a JSON document a line.", cause: error });
    }
  };
  try {
    return [JSON.parse(text)];
  } catch {
    return text
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map(parsed);
  }
}
