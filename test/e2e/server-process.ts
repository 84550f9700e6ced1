import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { InstalledPackage } from "../packaging/install.js";
import { byWords } from "../support/by-words.js";

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Root without its right to write anywhere: nobody else could read what the tests install in their own temporary folder. */
const ANYBODY = process.getuid?.() === 0 ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] : [];

/** `node dist/main.js`, or a command of `maitred`, of an installed package, in a process of its own, on a port that is free. */
export class ServerProcess {
  readonly #child: ChildProcess;
  readonly ended: Promise<Ended>;
  #stdout = "";
  #stderr = "";
  #onOutput: () => void = () => {};

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.#stdout += text;
      this.#onOutput();
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr += text;
      this.#onOutput();
    });
    this.ended = new Promise((resolve) => {
      child.once("close", (code, signal) => {
        this.#onOutput();
        resolve({ code, signal, stdout: this.#stdout, stderr: this.#stderr });
      });
    });
  }

  /**
   * Nothing of this process's environment gets in but PATH. Killed at the end of the test if it still runs. `asAnybody`: where the tests run
   * as root, permissions bind it all the same. Default false.
   */
  static start(
    installed: InstalledPackage,
    variables: Readonly<Record<string, string>>,
    command: readonly string[] = [],
    { asAnybody = false } = {},
  ): ServerProcess {
    const env = byWords({ PATH: process.env.PATH, PORT: "0", ...variables });
    const script = join(installed.home, "dist", command.length > 0 ? "cli.js" : "main.js");
    const [program = "", ...args] = [...(asAnybody ? ANYBODY : []), process.execPath, script, ...command];
    const child = spawn(program, args, { cwd: installed.project, env });
    const server = new ServerProcess(child);
    onTestFinished(async () => {
      child.kill("SIGKILL");
      await server.ended;
    });
    return server;
  }

  get pid(): number {
    return this.#child.pid ?? -1;
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** The address that it says it listens on. @throws when it ends before */
  async url(): Promise<string> {
    const found = () => /^ {2}Open +(http:\S+)$/m.exec(this.#stdout)?.[1];
    await this.#until(() => found() !== undefined);
    return found() ?? "";
  }

  /** Waits for a text on standard error, where the log goes. */
  async logged(text: string): Promise<void> {
    await this.#until(() => this.#stderr.includes(text));
  }

  /** Waits for a text on standard output. */
  async printed(text: string): Promise<void> {
    await this.#until(() => this.#stdout.includes(text));
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async #until(reached: () => boolean): Promise<void> {
    let over = false;
    void this.ended.then(() => {
      over = true;
    });
    while (!reached()) {
      if (over) throw new Error(`The server ended before.\n${this.#stdout}\n${this.#stderr}`);
      await new Promise<void>((resolve) => {
        this.#onOutput = resolve;
        if (reached()) resolve();
        void this.ended.then(() => resolve());
      });
    }
  }
}
