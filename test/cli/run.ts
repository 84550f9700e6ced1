import { PassThrough, Readable, Writable } from "node:stream";
import type { Maintenance } from "../../src/cli/maintenance.js";
import { type CliParts, runCli } from "../../src/cli/program.js";
import { type Config, parseConfig } from "../../src/compose/config.js";
import type { Application } from "../../src/ports/application.js";
import { fakeApplication, type Script } from "../support/fake-application.js";
import { appOver } from "../support/http-client.js";
import { strict } from "../support/session-world.js";

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** How often the application was closed. */
  readonly closed: number;
}

export interface RunOptions {
  readonly application?: Script;
  readonly maintenance?: Partial<Maintenance>;
  /** What is typed or piped in. */
  readonly stdin?: string | AsyncIterable<Buffer>;
  /** A person at a terminal. */
  readonly tty?: boolean;
  readonly parts?: Partial<CliParts>;
}

function sink(tty: boolean): { readonly stream: Writable & { isTTY?: boolean }; text(): string } {
  const chunks: Buffer[] = [];
  const stream: Writable & { isTTY?: boolean } = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(Buffer.from(chunk));
      done();
    },
  });
  if (tty) stream.isTTY = true;
  return { stream, text: () => Buffer.concat(chunks).toString("utf8") };
}

/** Runs a command line over a scripted application, as a process would. */
export async function run(argv: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const tty = options.tty ?? false;
  const stdout = sink(tty);
  const stderr = sink(tty);
  const { stdin: given = "" } = options;
  const piped = typeof given === "string" ? [Buffer.from(given)] : given;
  const stdin: Readable & { isTTY?: boolean } = tty ? new PassThrough() : Readable.from(piped);
  if (tty) {
    stdin.isTTY = true;
    (stdin as PassThrough).end(given);
  }
  let closed = 0;
  const application: Application = {
    ...fakeApplication(options.application),
    close: async () => {
      closed += 1;
    },
  };
  const code = await runCli(argv, {
    version: "1.2.3",
    streams: { stdin, stdout: stdout.stream, stderr: stderr.stream },
    colours: false,
    signal: new AbortController().signal,
    readConfig: (): Config => parseConfig({}),
    open: async () => ({ application, maintenance: strict<Maintenance>("maintenance", { ...options.maintenance }) }),
    migrate: () => () => Promise.reject(new Error("nothing is to be moved in this test")),
    encryption: () => Promise.reject(new Error("nothing is to be encrypted in this test")),
    backups: () => Promise.reject(new Error("nothing is to be backed up in this test")),
    openModel: async () => null,
    openTrial: () => Promise.reject(new Error("no trial in this test")),
    serve: () => Promise.reject(new Error("no server in this test")),
    serverOf: async () => null,
    openBrowser: () => Promise.reject(new Error("no browser in this test")),
    nodeVersion: "20.19.0",
    sqliteVersion: async () => "3.50.0",
    fetch: () => Promise.reject(new Error("no network in this test")),
    operatorToken: () => undefined,
    ...options.parts,
  });
  return { code, stdout: stdout.text(), stderr: stderr.text(), closed };
}

/** The same command through the HTTP API of a server over the same application; the directory must not be opened. */
export async function runRemote(argv: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const app = await appOver(fakeApplication(options.application));
  const fetch: typeof globalThis.fetch = async (input, init) => app.request(new Request(input as URL, init as RequestInit));
  const open = () => Promise.reject(new Error("the storage directory was opened"));
  return run(["--url", "http://127.0.0.1:3000", ...argv], { ...options, parts: { fetch, open, ...options.parts } });
}
