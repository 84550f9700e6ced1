import { readFile } from "node:fs/promises";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { TrialOptions } from "../compose/trial.js";
import { type BookingReceipt, bookingReceiptSchema } from "../domain/booking-receipt.js";
import { receiptProblems } from "../gate/booking-receipt.js";
import type { ReplayTrial } from "../operations/replay-turn.js";
import { AppError } from "../platform/errors.js";
import { parsedJson } from "../platform/json.js";
import { EXIT, type ExitCode } from "./errors.js";
import { evalCommand } from "./eval.js";
import type { Variables } from "./maintenance-commands.js";
import { replayMemoriesCommand, replayTurnCommand } from "./replay.js";
import type { CommandContext, Terminal } from "./terminal.js";

interface ReplayCliParts extends CommandContext {
  /** The user's export. */
  readonly exported: () => Promise<string>;
  /** The product over stores of its own, with these variables beside those of the environment. @throws INVALID_CONFIG */
  readonly openTrial: (variables: Variables, options: TrialOptions) => Promise<ReplayTrial>;
}

interface ReplayOptions {
  readonly from?: string;
  readonly with: Variables;
  readonly withoutMemory: boolean;
  readonly prompt?: string;
  readonly mayLose: number;
  readonly mayLoseNeeds: number;
}

const LINE = `A line of the file is a conversation:
  {"id":"nuts","messages":["No nuts for me, please."],"expect":[{"text":"no nuts","match":["nut"],"hard":true}],"forbid":["vegan"]}
\`match\` and \`forbid\` are regular expressions over lower-cased memories;
\`ask\`: it is to be asked about; \`optional\`: it may be kept.`;

/** `replay`, `eval` and `verify`: what another model, prompt or version would make of what was said. Writes to the screen alone. */
export function addReplayCommands(program: Command, { terminal, done, signal, owner, exported, openTrial }: ReplayCliParts): void {
  const withOption = () =>
    new Option("--with <NAME=value>", "a variable for it, instead of the environment's; again for more")
      .argParser(variable)
      .default({}, "none");
  program
    .command("replay [session] [turn]")
    .description("form the user's memories anew and tell the difference, or answer one turn once more; nothing is written")
    .option("--from <file>", "of an export, instead of what is kept")
    .addOption(withOption())
    .option("--without-memory", "of a turn: with what was said in its conversation alone", false)
    .option("--prompt <file>", "of a turn: a prompt instead of the product's")
    .option("--may-lose <n>", "memories that may be lost before it ends with 6", count, 0)
    .option("--may-lose-needs <n>", "of them, what must hold", count, 0)
    .action(async (session: string | undefined, turn: string | undefined, options: ReplayOptions) => {
      const { from, prompt, withoutMemory: without, mayLose, mayLoseNeeds } = options;
      const replayed = {
        owner: owner(),
        exported: from === undefined ? await exported() : await readFile(from, "utf8"),
        open: (at?: Date) =>
          // Memories are formed of a conversation by itself.
          openTrial(options.with, { memory: !without, embeds: true, ...(at === undefined ? { history: false } : { at }) }),
        signal,
      };
      if (session === undefined) return done(await replayMemoriesCommand(terminal(), replayed, { mayLose, mayLoseNeeds }));
      const own = prompt === undefined ? {} : { prompt: await readFile(prompt, "utf8") };
      done(await replayTurnCommand(terminal(), { ...replayed, sessionId: session, turn: count(turn ?? ""), ...own }));
    });
  program
    .command("eval <file>")
    .description("have conversations of a file read, and tell what of what is expected of them was remembered; nothing is written")
    .addOption(withOption())
    .option("--min-kept <share>", "of what is expected, below which it ends with 6", share, 0.95)
    .option("--notes", "tell what was lost, asked about or is wrong", false)
    .addHelpText("after", `\n${LINE}`)
    .action(async (file: string, options: { readonly with: Variables; readonly minKept: number; readonly notes: boolean }) => {
      const open = () => openTrial(options.with, { embeds: true, history: false });
      done(await evalCommand(terminal(), file, { open, signal, minKept: options.minKept, notes: options.notes, now: new Date() }));
    });
  program
    .command("verify <file>")
    .description("check receipts of bookings (GET /v1/me/receipts, or an export): whether each verdict follows, and their chain holds")
    .action(async (file: string) => done(await verifyCommand(terminal(), file)));
}

function variable(text: string, before: Variables): Variables {
  const [name, ...value] = text.split("=");
  if (name === undefined || !/^[A-Z][A-Z0-9_]*$/u.test(name) || value.length === 0)
    throw new InvalidArgumentError("It is a variable and its value: EXTRACTION_MODEL=gpt-5-mini.");
  return { ...before, [name]: value.join("=") };
}

function count(text: string): number {
  if (!/^\d{1,9}$/u.test(text)) throw new InvalidArgumentError("It is a whole number.");
  return Number(text);
}

function share(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !(value >= 0 && value <= 1)) throw new InvalidArgumentError("It is a number from 0 to 1.");
  return value;
}

/** Replays the verdicts of a file's receipts, and follows their chain: it needs nothing but the file. */
async function verifyCommand(terminal: Terminal, file: string): Promise<ExitCode> {
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
  const whole = parsedJson(text);
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const documents = whole === undefined ? lines.map(parsedJson) : [whole];
  if (documents.includes(undefined)) throw new AppError("INVALID_REQUEST", { detail: "The file is not JSON, nor a JSON document a line." });
  return documents;
}
