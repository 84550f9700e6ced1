import { createInterface } from "node:readline";
import type { RecallStatus } from "../domain/session.js";
import { AppError } from "../platform/errors.js";
import type { ChatAnswer } from "../ports/resources.js";
import type { Backend } from "./backend.js";
import { type ChatState, isChatCommand, runChatCommand, showWaiting } from "./chat-commands.js";
import { EXIT, type ExitCode, errorJson, errorLines } from "./errors.js";
import { printable, type Terminal } from "./terminal.js";

export interface ChatCommand {
  /** One message, one answer. Default: a conversation, a message a line. */
  readonly message?: string;
  /** The session to go on with. Default: a new one. */
  readonly sessionId?: string;
  /** Whom the banner names. */
  readonly user: string;
  readonly signal: AbortSignal;
}

const MEMORY_NOTES: Readonly<Record<RecallStatus, string | null>> = {
  ok: null,
  empty: null,
  disabled: null,
  timeout: "Long-term memory was too slow for this answer.",
  degraded: "Long-term memory is out of reach; this answer came without it.",
};

/**
 * A conversation in the terminal. Ctrl+C ends the answer that is streaming, and at the prompt the conversation. Where nobody looks
 * (a pipe), each line is a message, and nothing but the answers is written.
 * @returns `failure` where a command in a pipe failed: the lines after it were said all the same
 */
export async function chatCommand(terminal: Terminal, backend: Backend, command: ChatCommand): Promise<ExitCode> {
  const state: ChatState = { sessionId: command.sessionId ?? null, listed: { memories: [], sessions: [], waiting: [] } };
  if (state.sessionId !== null) await backend.session(state.sessionId);
  await backend.warm();
  if (command.message !== undefined) {
    await say(terminal, backend, state, command.message, command.signal);
    return EXIT.ok;
  }
  if (terminal.interactive) banner(terminal, backend, command.user);
  return (await converse(terminal, backend, state, command.signal)) ? EXIT.ok : EXIT.failure;
}

function banner(terminal: Terminal, { about: { model, store } }: Backend, user: string): void {
  const { bold, dim } = terminal.colours;
  terminal.line(
    `${bold("Maitred")} ${dim(`for ${printable(user)} · ${model === null ? "" : `${printable(model)} · `}${printable(store)}`)}`,
  );
  terminal.line(dim("/help shows the commands · Ctrl+C to leave"));
}

/** False where a command failed and nobody looked. */
async function converse(terminal: Terminal, backend: Backend, state: ChatState, signal: AbortSignal): Promise<boolean> {
  const { stdin, stdout } = terminal.streams;
  const lines = createInterface({ input: stdin, output: stdout, terminal: terminal.interactive });
  let turn: AbortController | null = null;
  // Input may end while lines that were read still wait: newer versions of Node refuse a prompt then.
  let open = true;
  let done = true;
  lines.once("close", () => {
    open = false;
  });
  const interrupt = () => (turn ? turn.abort() : lines.close());
  lines.on("SIGINT", interrupt);
  signal.addEventListener("abort", () => lines.close(), { once: true });
  if (terminal.interactive) {
    lines.setPrompt(terminal.colours.bold("› "));
    lines.prompt();
  }
  try {
    for await (const line of lines) {
      const text = line.trim();
      if (text === "/quit") break;
      turn = new AbortController();
      if (text !== "") done = (await answerLine(terminal, backend, state, text, AbortSignal.any([signal, turn.signal]))) && done;
      turn = null;
      if (terminal.interactive && open) lines.prompt();
    }
  } finally {
    lines.close();
  }
  return done;
}

/**
 * In a conversation an error is told, and the conversation goes on. In a pipe a message that fails ends it, and a command that fails does
 * not: what is said after it stands by itself. False for such a command; one that doesn't exist is only told.
 */
async function answerLine(terminal: Terminal, backend: Backend, state: ChatState, text: string, signal: AbortSignal): Promise<boolean> {
  const isCommand = text.startsWith("/");
  try {
    if (isCommand) await runChatCommand(terminal, backend, state, text);
    else await say(terminal, backend, state, text, signal);
  } catch (error) {
    if (!terminal.interactive && (!isCommand || signal.aborted)) throw error;
    if (!terminal.interactive) {
      terminal.result(errorJson(error));
      if (!terminal.json) terminal.note(errorLines(error).join("\n"));
      return !isChatCommand(text);
    }
    terminal.line();
    for (const line of signal.aborted ? ["(broken off)"] : errorLines(error)) terminal.line(terminal.colours.yellow(line));
  }
  return true;
}

async function say(terminal: Terminal, backend: Backend, state: ChatState, message: string, signal: AbortSignal): Promise<void> {
  if (message.trim() === "") throw new AppError("INVALID_REQUEST", { detail: "The message is blank." });
  let streamed = "";
  const answer = await backend.chat(
    { message, ...(state.sessionId === null ? {} : { sessionId: state.sessionId }) },
    {
      signal,
      onEvent: (event) => {
        if (event.type === "session") state.sessionId = event.session_id;
        if (event.type === "step")
          terminal.line(terminal.colours.dim(`· ${event.step.name}${event.step.error === null ? "" : " (failed)"}`));
        if (event.type !== "token") return;
        streamed += event.delta;
        terminal.write(printable(event.delta));
      },
    },
  );
  state.sessionId = answer.session_id;
  terminal.result(answer);
  // A model may answer without having streamed, or have streamed words that it then took back.
  if (streamed !== answer.message.content) terminal.write(`${streamed === "" ? "" : "\n"}${printable(answer.message.content)}`);
  terminal.line();
  memoriesUsed(terminal, answer);
  showWaiting(terminal, state, answer.memory.to_confirm);
}

function memoriesUsed(terminal: Terminal, { memory }: ChatAnswer): void {
  const { dim, yellow } = terminal.colours;
  const note = MEMORY_NOTES[memory.status];
  if (note !== null) terminal.line(yellow(note));
  const shaping = memory.recalled.filter(({ id }) => memory.used.includes(id));
  if (shaping.length === 0) return;
  const used = shaping.map(({ text, strength }) => `${printable(text)}${strength === "hard" ? " (must hold)" : ""}`);
  terminal.line(dim(`Kept in mind: ${used.join("; ")}`));
}
