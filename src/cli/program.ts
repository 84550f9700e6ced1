import { readFile } from "node:fs/promises";
import { Command, CommanderError, Option } from "commander";
import type { Config } from "../compose/config.js";
import { DEFAULT_TENANT, ownerOf, plainUser } from "../domain/owner.js";
import { AppError } from "../platform/errors.js";
import type { Application } from "../ports/application.js";
import type { Backups } from "../ports/backups.js";
import type { ChatModel } from "../ports/chat-model.js";
import { STATE_BACKENDS, type StateBackend } from "../ports/transfer.js";
import type { Backend } from "./backend.js";
import { backupCommand, restoreCommand } from "./backup.js";
import { chatCommand } from "./chat.js";
import { doctorCommand, remoteDoctorCommand } from "./doctor.js";
import { modelDoctorCommand } from "./doctor-model.js";
import { errorJson, errorLines } from "./error-lines.js";
import { EXIT, EXIT_HELP, exitCodeOf } from "./exit-codes.js";
import { importCommand, LINE_HELP } from "./import.js";
import { type InUseParts, unlessInUse } from "./in-use.js";
import { addKeptCommands } from "./kept-commands.js";
import { localBackend } from "./local-backend.js";
import { type Maintenance, promoteCommand, reindexCommand, retentionCommand } from "./maintenance.js";
import { type MigrateState, migrateCommand } from "./migrate.js";
import { eraseCommand, exportCommand } from "./privacy.js";
import { type RemoteOptions, remoteBackend } from "./remote-backend.js";
import { Terminal, type TerminalStreams } from "./terminal.js";

/** What the command line runs on; the entry fills it in. */
export interface CliParts extends InUseParts {
  readonly version: string;
  readonly streams: TerminalStreams;
  readonly colours: boolean;
  /** Aborts at the first Ctrl+C. */
  readonly signal: AbortSignal;
  /** @throws INVALID_CONFIG */
  readonly readConfig: () => Config;
  /** `reembed`: fits stored vectors to a changed embedder first. @throws STORAGE_IN_USE while another process owns the directory */
  readonly open: (
    config: Config,
    options?: { readonly reembed?: boolean },
  ) => Promise<{ readonly application: Application; readonly maintenance: Maintenance }>;
  /** The configured model; null for the stand-in. @throws INVALID_CONFIG */
  readonly openModel: (config: Config) => Promise<ChatModel | null>;
  /** Moves all state between backends of the configuration. @throws STORAGE_IN_USE, TARGET_NOT_EMPTY */
  readonly migrate: (config: Config) => MigrateState;
  /** @throws INVALID_REQUEST where the configuration names no directory */
  readonly backups: (config: Config) => Promise<Backups>;
  /** Runs the server until it is stopped. `variables` come before the environment. Returns the exit code. @throws INVALID_CONFIG */
  readonly serve: (variables: Readonly<Record<string, string>>) => Promise<number>;
  readonly nodeVersion: string;
  readonly sqliteVersion: () => Promise<string>;
  readonly fetch: typeof fetch;
}

interface GlobalOptions {
  readonly json: boolean;
  readonly url?: string;
  readonly user: string;
  readonly tenant: string;
  readonly tokenFile?: string;
}

/** The user that a server in `local` mode takes a nameless caller for. */
const LOCAL_USER = "local-user";

/** Runs one command line (without node and script). Never throws. Returns the exit code. */
export async function runCli(argv: readonly string[], parts: CliParts): Promise<number> {
  let code: number = EXIT.ok;
  const program = programOf(parts, (result) => {
    code = result;
  });
  try {
    await program.parseAsync([...argv], { from: "user" });
    return code;
  } catch (error) {
    // Help and version end so too; commander has written what is wrong with the options.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    const { json } = program.opts<GlobalOptions>();
    const interrupted = parts.signal.aborted;
    if (json) parts.streams.stdout.write(`${JSON.stringify(errorJson(error))}\n`);
    else if (!interrupted) parts.streams.stderr.write(`${errorLines(error).join("\n")}\n`);
    return interrupted ? EXIT.interrupted : exitCodeOf(error);
  }
}

function programOf(parts: CliParts, done: (code: number) => void): Command {
  const program = new Command("maitred")
    .description("A memory-first conversation orchestrator: chat, and look after what it remembers.")
    .version(parts.version)
    .option("--json", "write JSON, a document a line, and nothing else, to stdout", false)
    .option("--url <url>", "send the command through a running server's API instead of opening the storage directory")
    .addOption(new Option("--user <id>", "whose conversations and memories").default(LOCAL_USER).env("MAITRED_USER"))
    .option("--tenant <id>", "the user's tenant (not with --url: the server knows it)", DEFAULT_TENANT)
    .option("--token-file <path>", "with --url: a file that holds the bearer token")
    .addHelpText("after", `\n${EXIT_HELP}`)
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
    .configureOutput({
      writeOut: (text) => parts.streams.stdout.write(text),
      writeErr: (text) => parts.streams.stderr.write(text),
      getOutHasColors: () => parts.colours,
      getErrHasColors: () => parts.colours,
    })
    .showHelpAfterError("(maitred --help shows how)");
  const options = () => program.opts<GlobalOptions>();
  const terminal = () => new Terminal(parts.streams, { colours: parts.colours, json: options().json });
  const backend = async <T>(work: (backend: Backend) => Promise<T>): Promise<T> => {
    const opened = await openBackend(parts, options());
    try {
      return await work(opened);
    } finally {
      await opened.close();
    }
  };
  const maintained = async (
    work: (maintenance: Maintenance) => Promise<number | undefined>,
    opening: { readonly reembed?: boolean } = {},
  ): Promise<void> => {
    if (options().url !== undefined)
      throw new AppError("INVALID_REQUEST", {
        detail: "This command works on the storage directory itself.",
        hint: "Run it without --url, on the server's machine, while the server is stopped.",
      });
    const config = parts.readConfig();
    const { application, maintenance } = await unlessInUse(config, parts, { throughServer: false }, () => parts.open(config, opening));
    try {
      done((await work(maintenance)) ?? EXIT.ok);
    } finally {
      await application.close();
    }
  };
  const { signal } = parts;

  program
    .command("serve")
    .description("the chat page and the API, by the present directory's .env and storage, until Ctrl+C or SIGTERM")
    .option("-p, --port <port>", "instead of PORT")
    .option("--host <address>", "instead of HOST")
    .action(async ({ port, host }: { port?: string; host?: string }) =>
      done(await parts.serve({ ...(port !== undefined && { PORT: port }), ...(host !== undefined && { HOST: host }) })),
    );
  program
    .command("chat")
    .description("talk; /help shows the commands in it")
    .option("-m, --message <text>", "say one thing, get one answer")
    .option("-s, --session <id>", "go on with a session")
    .action(({ message, session }: { message?: string; session?: string }) =>
      backend((it) =>
        chatCommand(terminal(), it, {
          signal,
          user: options().user,
          ...(message === undefined ? {} : { message }),
          ...(session === undefined ? {} : { sessionId: session }),
        }),
      ),
    );
  addKeptCommands(program, terminal, backend);
  program
    .command("mcp")
    .description("an MCP server for a client on this machine, over stdin and stdout; with --url in front of a server that runs")
    .action(async () => {
      // Standard output is the protocol's, also where the server can't be opened.
      program.setOptionValue("json", false);
      const { mcpCommand, remoteMcpCommand } = await import("./mcp.js");
      const { url, user, tenant } = options();
      if (url !== undefined) return remoteMcpCommand(terminal(), await remoteOptions(parts, url, options()), signal);
      const owner = ownerOf(tenant, plainUser(user));
      await mcpCommand(terminal(), await openLocal(parts), owner, signal);
    });
  program
    .command("import <file>")
    .description(
      "take conversations in: JSON lines, Maitred's own export, or ChatGPT's conversations.json; broken off, the same command " +
        "again passes over what is there and adds the rest",
    )
    .addOption(new Option("--format <format>", "what the file is; default: by its beginning").choices(["ndjson", "export"]))
    .option("--extract", "also make memories of the user's own words", false)
    .addHelpText("after", `\n${LINE_HELP}`)
    .action((file: string, { format, extract }: { format?: "ndjson" | "export"; extract: boolean }) =>
      backend(async (it) =>
        done(await importCommand(terminal(), it, { file, extract, signal, ...(format === undefined ? {} : { format }) })),
      ),
    );
  program
    .command("export [file]")
    .description("everything about the user as JSON, to a file or to stdout")
    .action((file: string | undefined) => backend((it) => exportCommand(terminal(), it, file)));
  program
    .command("erase")
    .description("erase everything about the user, and show the receipt")
    .option("-y, --yes", "don't ask", false)
    .action(({ yes }: { yes: boolean }) => backend(async (it) => done(await eraseCommand(terminal(), it, { user: options().user, yes }))));
  program
    .command("reindex")
    .description("rebuild the list of sessions and the history from the journals; after a change of embedder, memories' vectors too")
    .option("--memories", "memories alone, from their logs: also into a server that this installation never wrote to")
    .action(({ memories = false }: { memories?: boolean }) =>
      maintained(async (it) => void (await reindexCommand(terminal(), it, { memories, signal })), { reembed: true }),
    );
  program
    .command("promote")
    .description("make memories of what lies in the journals already: imports, and turns from when long-term memory was off")
    .option("--all-users", "of all users, not only --user", false)
    .action(({ allUsers }: { allUsers: boolean }) =>
      maintained((it) => {
        const { tenant, user } = options();
        return promoteCommand(terminal(), it, { signal, ...(allUsers ? {} : { owner: ownerOf(tenant, plainUser(user)) }) });
      }),
    );
  program
    .command("retention")
    .description("delete the sessions whose time has run out, and purge the deleted ones")
    .addOption(new Option("--dry-run", "say what would be done").conflicts("apply"))
    .addOption(new Option("--apply", "do it"))
    .action(({ dryRun, apply }: { dryRun?: boolean; apply?: boolean }) => {
      if (dryRun !== true && apply !== true)
        throw new AppError("INVALID_REQUEST", { detail: "Say --dry-run or --apply.", hint: "--dry-run changes nothing." });
      return maintained((it) => retentionCommand(terminal(), it, { dryRun: dryRun === true, signal }));
    });
  program
    .command("migrate")
    .description(
      "move everything that is kept of users and sessions to another store, which must be empty, and compare the two; stop all servers " +
        "first; broken off, the same command again goes on",
    )
    .addOption(new Option("--from <store>", "where it is").choices(STATE_BACKENDS).makeOptionMandatory())
    .addOption(new Option("--to <store>", "where it goes").choices(STATE_BACKENDS).makeOptionMandatory())
    .action(async ({ from, to }: { from: StateBackend; to: StateBackend }) => {
      if (options().url !== undefined)
        throw new AppError("INVALID_REQUEST", { detail: "This command works on the stores themselves.", hint: "Run it without --url." });
      if (from === to) throw new AppError("INVALID_REQUEST", { detail: "--from and --to are the same.", hint: "Name two stores." });
      const config = parts.readConfig();
      done(await migrateCommand(terminal(), parts.migrate(config), { from, to, signal }));
    });
  const backups = async (work: (backups: Backups) => Promise<void>): Promise<void> => {
    if (options().url !== undefined)
      throw new AppError("INVALID_REQUEST", {
        detail: "This command works on the storage directory itself.",
        hint: "Run it without --url.",
      });
    await work(await parts.backups(parts.readConfig()));
  };
  program
    .command("backup <dir>")
    .description("copy what decides out of the storage directory into a new one, while a server may be running")
    .action((dir: string) => backups((it) => backupCommand(terminal(), it, dir, signal)));
  program
    .command("restore <dir>")
    .description("put a backup into the storage directory, which must be empty; stop the server first")
    .action((dir: string) => backups((it) => restoreCommand(terminal(), it, dir, signal)));
  program
    .command("doctor")
    .description("check configuration, stores, journals and versions, and say what to do")
    .option("--model", "instead make a small real call of each kind to the model, and say what works and what to set", false)
    .option("--strict", "end with 6 also where something works but wants a look", false)
    .action(async ({ model, strict }: { model: boolean; strict: boolean }) => {
      const { nodeVersion, readConfig, sqliteVersion, serverOf, openModel } = parts;
      const { url, tenant, user } = options();
      if (model && url !== undefined)
        throw new AppError("INVALID_REQUEST", {
          detail: "--model asks the model from here.",
          hint: "Run it where the server runs, without --url.",
        });
      if (model) return done(await modelDoctorCommand(terminal(), { readConfig, openModel, signal, strict }));
      if (url !== undefined) return backend(async (it) => done(await remoteDoctorCommand(terminal(), it, { strict })));
      const open = async (config: Config) => {
        const { application, maintenance } = await parts.open(config);
        return { backend: localBackend(application, ownerOf(tenant, plainUser(user))), maintenance };
      };
      done(await doctorCommand(terminal(), { nodeVersion, readConfig, sqliteVersion, serverOf, open }, { strict }));
    });
  return program;
}

async function openBackend(parts: CliParts, options: GlobalOptions): Promise<Backend> {
  const { url, user, tenant } = options;
  if (url !== undefined) return remoteBackend(await remoteOptions(parts, url, options));
  const owner = ownerOf(tenant, plainUser(user));
  return localBackend(await openLocal(parts), owner);
}

async function openLocal(parts: CliParts): Promise<Application> {
  const config = parts.readConfig();
  return (await unlessInUse(config, parts, { throughServer: true }, () => parts.open(config))).application;
}

async function remoteOptions(parts: CliParts, url: string, { user, tokenFile }: GlobalOptions): Promise<RemoteOptions> {
  if (!URL.canParse(url))
    throw new AppError("INVALID_REQUEST", { detail: "--url is not an address.", hint: "For example --url http://127.0.0.1:3000" });
  const token = tokenFile === undefined ? null : (await readFile(tokenFile, "utf8")).trim();
  return { url, user, token, fetch: parts.fetch };
}
