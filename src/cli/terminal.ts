import { Presets, SingleBar } from "cli-progress";
import pc from "picocolors";
import type { Owner } from "../domain/owner.js";

export interface TerminalStreams {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

export interface Progress {
  /** `total` may grow, or be unknown (0) at first. */
  update(done: number, total: number): void;
  stop(): void;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out here
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/**
 * What a command writes with: results to stdout, all else to stderr, colours and bars only where a person looks. With `json`, stdout
 * is JSON alone, a document a line.
 */
export class Terminal {
  readonly streams: TerminalStreams;
  readonly colours: ReturnType<typeof pc.createColors>;
  readonly json: boolean;

  constructor(streams: TerminalStreams, options: { readonly colours: boolean; readonly json: boolean }) {
    this.streams = streams;
    this.colours = pc.createColors(options.colours && !options.json);
    this.json = options.json;
  }

  /** True when a person can be asked. */
  get interactive(): boolean {
    return this.streams.stdin.isTTY === true && this.streams.stdout.isTTY === true && !this.json;
  }

  /** Text without a line break, as it streams in. Not with `json`. */
  write(text: string): void {
    if (!this.json) this.streams.stdout.write(text);
  }

  /** A line of a result for a person. Not with `json`. */
  line(text = ""): void {
    this.write(`${text}\n`);
  }

  /** The result for a program. Only with `json`. */
  result(value: unknown): void {
    if (this.json) this.streams.stdout.write(`${JSON.stringify(value)}\n`);
  }

  /** A list for a program: a document for each. Only with `json`. */
  results(values: readonly unknown[]): void {
    for (const value of values) this.result(value);
  }

  /** A remark to a person that is no part of the result. */
  note(text: string): void {
    this.streams.stderr.write(`${text}\n`);
  }

  /** With {@link progress} until the work has ended. */
  async during<T>(label: string, work: (onProgress: Progress["update"]) => Promise<T>): Promise<T> {
    const progress = this.progress(label);
    try {
      return await work(progress.update);
    } finally {
      progress.stop();
    }
  }

  /** A bar on stderr where a person looks, and seconds that count up until the first update; nothing elsewhere. */
  progress(label: string): Progress {
    const { stderr } = this.streams;
    if (stderr.isTTY !== true || this.json) return { update: () => {}, stop: () => {} };
    const waiting = countSeconds(stderr, label);
    const bar = new SingleBar(
      { format: `${label} {bar} {value}/{total}`, stream: stderr, hideCursor: true, clearOnComplete: true },
      Presets.shades_classic,
    );
    let started = false;
    return {
      update: (done, total) => {
        const most = Math.max(done, total);
        waiting.stop();
        if (!started) bar.start(most, done);
        started = true;
        bar.setTotal(most);
        bar.update(done);
      },
      stop: () => {
        waiting.stop();
        if (started) bar.stop();
      },
    };
  }
}

/** Shows, second by second, that work goes on whose end can't be told. */
function countSeconds(stream: NodeJS.WritableStream, label: string): { stop(): void } {
  let seconds = 0;
  const timer = setInterval(() => {
    seconds += 1;
    stream.write(`\r${label}: ${seconds} s`);
  }, 1_000);
  timer.unref();
  return {
    stop: () => {
      clearInterval(timer);
      if (seconds > 0) stream.write("\r\u001b[K");
      seconds = 0;
    },
  };
}

/** Stored or streamed text without what could move the cursor, set colours or reorder the line. */
export function printable(text: string): string {
  return text.replace(CONTROL, "");
}

export interface CommandContext {
  readonly terminal: () => Terminal;
  readonly done: (code: number) => void;
  /** Aborts at the first Ctrl+C. */
  readonly signal: AbortSignal;
  /** Whom --user and --tenant name. */
  readonly owner: () => Owner;
}
