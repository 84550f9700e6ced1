import { PassThrough } from "node:stream";
import { expect, test, vi } from "vitest";
import { printable, Terminal } from "../../src/cli/terminal.js";

function terminal(options: { readonly tty: boolean; readonly json?: boolean }) {
  const stdout = Object.assign(new PassThrough(), options.tty ? { isTTY: true, columns: 80 } : {});
  const stderr = Object.assign(
    new PassThrough(),
    options.tty ? { isTTY: true, columns: 80, cursorTo: () => {}, clearLine: () => {}, moveCursor: () => {} } : {},
  );
  const made = new Terminal({ stdin: new PassThrough(), stdout, stderr }, { colours: options.tty, json: options.json ?? false });
  return { made, out: () => String(stdout.read() ?? ""), err: () => String(stderr.read() ?? "") };
}

function work({ made }: ReturnType<typeof terminal>): void {
  const progress = made.progress("Importing");
  progress.update(1, 3);
  progress.update(3, 3);
  progress.stop();
}

test("a bar is drawn on stderr where a person looks, and nowhere else", () => {
  const person = terminal({ tty: true });
  work(person);
  expect(person.err()).toContain("Importing");
  expect(person.out()).toBe("");
  for (const quiet of [terminal({ tty: false }), terminal({ tty: true, json: true })]) {
    work(quiet);
    expect(quiet.err() + quiet.out()).toBe("");
  }
});

test("until the first update seconds count up, where a person looks", () => {
  vi.useFakeTimers();
  try {
    const person = terminal({ tty: true });
    const progress = person.made.progress("Importing");
    vi.advanceTimersByTime(2_500);
    expect(person.err()).toBe("\rImporting: 1 s\rImporting: 2 s");
    progress.stop();
    vi.advanceTimersByTime(2_000);
    expect(person.err()).toBe("\r\u001b[K");
  } finally {
    vi.useRealTimers();
  }
});

test("a bar that was never begun can be stopped, and one whose total was too small goes on", () => {
  const { made } = terminal({ tty: true });
  made.progress("Nothing").stop();
  const progress = made.progress("Growing");
  progress.update(5, 2);
  progress.update(9, 0);
  progress.stop();
});

test("with --json stdout is JSON alone; without, results for programs are not written", () => {
  const program = terminal({ tty: false, json: true });
  program.made.line("for a person");
  program.made.write("for a person");
  program.made.result({ a: 1 });
  expect(program.out()).toBe('{"a":1}\n');
  const person = terminal({ tty: false });
  person.made.line("for a person");
  person.made.result({ a: 1 });
  expect(person.out()).toBe("for a person\n");
});

test("stored text can't move the cursor, set colours, or turn the line around", () => {
  expect(printable("a\u001b[31mred\u001b]0;title\u0007\u009b2J\r\u202eb\n\tc")).toBe("a[31mred]0;title2Jb\n\tc");
});
