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

  /** Nothing of this process's environment gets in but PATH. Killed at the end of the test if it still runs. */
  static start(installed: InstalledPackage, variables: Readonly<Record<string, string>>, command: readonly string[] = []): ServerProcess {
    const env = byWords({ PATH: process.env.PATH, PORT: "0", ...variables });
    const child = spawn(process.execPath, [join(installed.home, "dist", command.length > 0 ? "cli.js" : "main.js"), ...command], {
      cwd: installed.project,
      env,
    });
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
