import { type SpawnOptions, spawn } from "node:child_process";
import { posix } from "node:path";
import type { Command } from "commander";
import type { Config } from "../compose/config.js";
import { AppError, isAppError } from "../platform/errors.js";
import { configuredUrl } from "./in-use.js";
import { type GlobalOptions, wellAnswered } from "./remote-backend.js";
import type { Terminal } from "./terminal.js";

export interface StudioCliParts {
  readonly readConfig: () => Config;
  readonly fetch: typeof fetch;
  /** Whether this machine could be asked to open it. */
  readonly openBrowser: (url: string) => Promise<boolean>;
}

/** `studio`: the view of a server for those who run it, in a browser. */
export function addStudioCommand(program: Command, terminal: () => Terminal, parts: StudioCliParts): void {
  program
    .command("studio")
    .description("open Studio, the view for those who run a server, of the one at --url or by the present directory's .env")
    .option("--no-open", "say where it is, and open no browser")
    .action(async ({ open }: { open: boolean }) => {
      const { url } = program.opts<GlobalOptions>();
      await studioCommand(terminal(), parts, { url: url ?? configuredUrl(parts.readConfig()), open });
    });
}

async function studioCommand(
  terminal: Terminal,
  { fetch, openBrowser }: StudioCliParts,
  { url, open }: { readonly url: string; readonly open: boolean },
): Promise<void> {
  const address = studioAddress(url);
  await requireStudio(address, fetch);
  terminal.result({ url: address });
  terminal.line(address);
  if (!open) return;
  if (await openBrowser(address)) terminal.note("Sign in there with the server's OPERATOR_TOKEN.");
  else terminal.note("No browser could be opened from here: open the address where there is one.");
}

/** With no more of what was given than where it is: neither a password nor a query. @throws INVALID_REQUEST */
function studioAddress(url: string): string {
  const given = URL.canParse(url) ? new URL(url) : null;
  if (given === null || !/^https?:$/.test(given.protocol))
    throw new AppError("INVALID_REQUEST", { detail: "--url is not an address.", hint: "For example --url http://127.0.0.1:3000" });
  return `${given.origin}${posix.join(given.pathname, "studio")}`;
}

/** @throws NOT_FOUND where the server has none, SERVER_UNREACHABLE */
async function requireStudio(address: string, fetch: StudioCliParts["fetch"]): Promise<void> {
  try {
    await (await wellAnswered({ url: address, fetch })(address)).body?.cancel();
  } catch (error) {
    if (!isAppError(error, "NOT_FOUND")) throw error;
    const hint = "Set OPERATOR_TOKEN where the server runs, and start it again.";
    throw new AppError("NOT_FOUND", { detail: `There is no Studio at ${address}.`, hint, cause: error });
  }
}

/** What opens an address, by system: a program, and what comes before the address. No shell reads it. */
const OPENERS: Readonly<Record<string, readonly [program: string, ...before: string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};
const ELSEWHERE = ["xdg-open"] as const;

interface Started {
  once(event: "spawn" | "error", listener: () => void): unknown;
  unref(): void;
}

type Start = (program: string, args: readonly string[], options: SpawnOptions) => Started;

/** Opens an address in the user's browser. False where nothing on this machine does that; what becomes of it then is not waited for. */
export function openBrowser(url: string, platform: string = process.platform, start: Start = spawn): Promise<boolean> {
  const [program, ...before] = OPENERS[platform] ?? ELSEWHERE;
  return new Promise((resolve) => {
    const started = start(program, [...before, url], { stdio: "ignore", detached: true });
    started.once("error", () => resolve(false));
    started.once("spawn", () => {
      started.unref();
      resolve(true);
    });
  });
}
