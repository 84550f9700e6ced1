import type { Memory } from "../domain/memory.js";
import type { Session } from "../domain/session.js";
import type { Why } from "../ports/resources.js";
import { printable, type Terminal } from "./terminal.js";

/** Memories, conversations and messages as lines for a person, in conversations and by commands alike. */

/** `name`: how each can be named in a command: its number, or its id. */
export function memoryLines(terminal: Terminal, memories: readonly Memory[], name: (memory: Memory, position: number) => string): void {
  for (const [position, memory] of memories.entries()) {
    const { text, category, strength } = memory;
    const about = `(${printable(category)}${strength === "hard" ? ", must hold" : ""})`;
    terminal.line(`${name(memory, position)}  ${printable(text)} ${terminal.colours.dim(about)}`);
  }
}

export function sessionLine(terminal: Terminal, { title, updated_at }: Session, name: string): void {
  const when = terminal.colours.dim(new Date(updated_at).toLocaleString());
  terminal.line(`${name} ${printable(title ?? "New conversation")} ${when}`);
}

/** The words behind a memory, and when they were said. */
export function whyLines(terminal: Terminal, { memory, source, because }: Why): void {
  const { bold, dim } = terminal.colours;
  terminal.line(bold(printable(memory.text)));
  if (source === null && because.length === 0) terminal.line("Stated by hand.");
  if (source !== null) {
    const said = source.message ?? source.quote;
    terminal.line(said === "" ? "What was said is not kept any more." : `You said: “${printable(said)}”`);
    terminal.line(dim(`${new Date(memory.stated_at).toLocaleString()}, in conversation ${source.session_id}, turn ${source.turn}`));
  }
  for (const { text } of because) terminal.line(`Made of: ${printable(text)}`);
}
