import { text } from "node:stream/consumers";
import { Argument, Command, CommanderError, Option } from "commander";
import type { Config } from "../compose/config.js";
import type { EncryptionCommands } from "../compose/encryption-commands.js";
import type { TrialOptions } from "../compose/trial.js";
import { DEFAULT_TENANT, ownerOf, plainUser } from "../domain/owner.js";
import type { Backups } from "../operations/backup.js";
import { AppError } from "../platform/errors.js";
import { present } from "../platform/present.js";
import type { Application } from "../ports/application.js";
import type { ChatModel } from "../ports/chat-model.js";
import { STATE_BACKENDS, type StateBackend } from "../ports/transfer.js";
import { type Backend, localBackend } from "./backend.js";
import { chatCommand } from "./chat.js";
import { completionOf, SHELLS, type Shell } from "./completion.js";
import { type Finding, readinessFindings, report, storageFindings } from "./doctor.js";
import { modelFindings, type Trial } from "./doctor-trial.js";
import { addEncryptionCommands } from "./encryption.js";
import { EXIT, EXIT_HELP, errorJson, errorLines, exitCodeOf, plainRefusal } from "./errors.js";
import { importCommand, LINE_HELP } from "./import.js";
import { unlessInUse } from "./in-use.js";
import type { InitOptions } from "./init.js";
import { addMaintenanceCommands, type MaintenanceCliParts, type Variables } from "./maintenance-commands.js";
import { addKeptCommands } from "./memories.js";
import { backupCommand, type MigrateState, migrateCommand, restoreCommand } from "./migrate.js";
import { eraseCommand, exportCommand } from "./privacy.js";
import { type GlobalOptions, remoteBackend, remoteOptions } from "./remote-backend.js";
import { addReplayCommands } from "./replay-commands.js";
import { addStudioCommand, type StudioCliParts } from "./studio.js";
import { Terminal, type TerminalStreams } from "./terminal.js";

/** What the command line runs on; the entry fills it in. */
export interface CliParts extends MaintenanceCliParts, Pick<StudioCliParts, "openBrowser"> {
  readonly version: string;
  readonly streams: TerminalStreams;
  readonly colours: boolean;
  /** The configured model; null for the stand-in. @throws INVALID_CONFIG */
  readonly openModel: (config: Config) => Promise<ChatModel | null>;
  /** The product with the configured models, over nothing that stays. */
  readonly openTrial: (config: Config, options?: TrialOptions) => Promise<Trial>;
  /** Moves all state between backends of the configuration. @throws STORAGE_IN_USE, TARGET_NOT_EMPTY */
  readonly migrate: (config: Config) => MigrateState;
  /** Of what the configuration names. @throws INVALID_REQUEST where nothing but a server's own process holds it */
  readonly backups: (config: Config) => Promise<Backups>;
  /** Of what the configuration names. @throws INVALID_CONFIG without a key */
  readonly encryption: (config: Config) => Promise<EncryptionCommands>;
  /**
   * Runs the server until it is stopped. `watch`: with the domain anew when its file changes. Returns the exit code.
   * @throws INVALID_CONFIG
   */
  readonly serve: (variables: Variables, options: { readonly watch: boolean }) => Promise<number>;
  readonly nodeVersion: string;
  readonly sqliteVersion: () => Promise<string>;
}

/** The user that a server in `local` mode takes a nameless caller for. */
const LOCAL_USER = "local-user";

/** Runs one command line (without node and script). Never throws. Returns the exit code. */
export async function runCli(argv: readonly string[], parts: CliParts): Promise<number> {
  let code: number = EXIT.ok;
  const asJson = argv.includes("--json");
  const done = (result: number) => {
    code = result;
  };
  const program = programOf(parts, done, asJson);
  const refused = ({ message }: CommanderError) => {
    if (asJson) parts.streams.stdout.write(`${JSON.stringify({ error: { code: "INVALID_REQUEST", detail: plainRefusal(message) } })}\n`);
    return EXIT.usage;
  };
  try {
    await program.parseAsync([...argv], { from: "user" });
    return code;
  } catch (error) {
    // Help and version end so too; commander has written what is wrong with the options.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : refused(error);
    const { json } = program.opts<GlobalOptions>();
    const interrupted = parts.signal.aborted;
    if (json) parts.streams.stdout.write(`${JSON.stringify(errorJson(error))}\n`);
    else if (!interrupted) parts.streams.stderr.write(`${errorLines(error).join("\n")}\n`);
    return interrupted ? EXIT.interrupted : exitCodeOf(error);
  }
}

function programOf(given: CliParts, done: (code: number) => void, asJson: boolean): Command {
  const program = new Command("maitred")
    .description("A memory-first conversation orchestrator: chat, and look after what it remembers.")
    .version(given.version)
    .option("--json", "write JSON, a document a line, and nothing else, to stdout", false)
    .option("--url <url>", "send the command through a running server's API instead of opening the storage directory")
    .addOption(new Option("--user <id>", "whose conversations and memories").default(LOCAL_USER).env("MAITRED_USER"))
    .option("--tenant <id>", "the user's tenant (not with --url: the server knows it)", DEFAULT_TENANT)
    .addOption(new Option("--domain <file>", "the product, instead of DOMAIN_FILE: a module made with defineDomain").conflicts("url"))
    .option("--token <token>", "with --url: the bearer token, which others on this machine can see: better from a file")
    .option("--token-file <path>", "with --url: a file that holds it")
    .addHelpText("after", `\n${EXIT_HELP}`)
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
    .configureOutput({
      writeOut: (text) => given.streams.stdout.write(text),
      // With --json what is wrong is told as JSON.
      writeErr: (text) => void (asJson || given.streams.stderr.write(text)),
      getOutHasColors: () => given.colours,
      getErrHasColors: () => given.colours,
    })
    .showHelpAfterError("(maitred --help shows how)");
  const options = () => program.opts<GlobalOptions>();
  const variables = (): Variables => {
    const { domain } = options();
    return domain === undefined ? {} : { DOMAIN_FILE: domain };
  };
  const parts = { ...given, readConfig: () => given.readConfig(variables()) };
  const terminal = () => new Terminal(parts.streams, { colours: parts.colours, json: options().json });
  const owner = () => ownerOf(options().tenant, plainUser(options().user));
  const backend = async <T>(work: (backend: Backend) => Promise<T>): Promise<T> => {
    const { url } = options();
    const opened =
      url === undefined ? localBackend(await openLocal(parts), owner()) : remoteBackend(await remoteOptions(parts, url, options()));
    try {
      return await work(opened);
    } finally {
      await opened.close();
    }
  };
  const { signal } = parts;
  const context = { terminal, done, signal, owner };

  program
    .command("serve")
    .description("the chat page and the API, by the present directory's .env and storage, until Ctrl+C or SIGTERM")
    .option("-p, --port <port>", "instead of PORT")
    .option("--host <address>", "instead of HOST")
    .option("--watch", "while a domain is written: take it anew when its file, or one beside it, changes", false)
    .action(async ({ port, host, watch }: { port?: string; host?: string; watch: boolean }) => {
      const named = { ...(port !== undefined && { PORT: port }), ...(host !== undefined && { HOST: host }) };
      done(await parts.serve({ ...variables(), ...named }, { watch }));
    });
  program
    .command("init [dir]")
    .description("write a domain of your own to begin with, a test of it, and what runs both")
    .option("--provider <name>", "whose language model, as LLM_PROVIDER names it, or `none`; default: openai")
    .option("--model <name>", "which of its models")
    .option("-p, --port <port>", "default: 3000")
    .option("-y, --yes", "ask nothing", false)
    .option("--force", "write over files that are there", false)
    .action(async (dir: string | undefined, more: Omit<InitOptions, "dir" | "version">) => {
      const { initCommand } = await import("./init.js");
      await initCommand(terminal(), { ...more, ...(dir !== undefined && { dir }), version: parts.version });
    });
  program
    .command("chat")
    .description("talk; /help shows the commands in it")
    .option("-m, --message <text>", "say one thing, get one answer")
    .option("-s, --session <id>", "go on with a session")
    .action(({ message, session }: { message?: string; session?: string }) =>
      backend(async (it) =>
        done(
          await chatCommand(terminal(), it, {
            signal,
            user: options().user,
            ...present({ message, sessionId: session }),
          }),
        ),
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
      const { url } = options();
      if (url !== undefined) return remoteMcpCommand(terminal(), await remoteOptions(parts, url, options()), signal);
      await mcpCommand(terminal(), await openLocal(parts), owner(), signal);
    });
  program
    .command("import <file>")
    .description(
      "take conversations in: JSON lines, Maitred's own export, ChatGPT's conversations.json, or what Chainlit, Firestore or Chroma " +
        "kept; broken off, the same command again passes over what is there and adds the rest",
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
    .description("everything about the user as JSON, to a file or to stdout (`-`, the default)")
    .action((file: string | undefined) => backend(async (it) => done(await exportCommand(terminal(), it, { file, user: options().user }))));
  program
    .command("erase")
    .description("erase everything about the user, and show the receipt")
    .option("-y, --yes", "don't ask", false)
    .action(({ yes }: { yes: boolean }) => backend(async (it) => done(await eraseCommand(terminal(), it, { user: options().user, yes }))));
  addMaintenanceCommands(program, parts, context);
  const requireStores = (): void => {
    if (options().url === undefined) return;
    throw new AppError("INVALID_REQUEST", { detail: "This command works on the stores themselves.", hint: "Run it without --url." });
  };
  program
    .command("migrate")
    .description(
      "move everything that is kept of users and sessions to another store, which must be empty, and compare the two; stop all servers " +
        "first; broken off, the same command again goes on",
    )
    .addOption(new Option("--from <store>", "where it is").choices(STATE_BACKENDS).makeOptionMandatory())
    .addOption(new Option("--to <store>", "where it goes").choices(STATE_BACKENDS).makeOptionMandatory())
    .action(async ({ from, to }: { from: StateBackend; to: StateBackend }) => {
      requireStores();
      if (from === to) throw new AppError("INVALID_REQUEST", { detail: "--from and --to are the same.", hint: "Name two stores." });
      const config = parts.readConfig();
      done(await migrateCommand(terminal(), parts.migrate(config), { from, to, signal }));
    });
  const backups = async (command: typeof backupCommand, dir: string): Promise<void> => {
    requireStores();
    done(await command(terminal(), await parts.backups(parts.readConfig()), dir, signal));
  };
  program
    .command("backup <dir>")
    .description("copy everything that is kept of users and sessions into a new directory, while servers may be running")
    .action((dir: string) => backups(backupCommand, dir));
  program
    .command("restore <dir>")
    .description(
      "put a backup, of any store, into the configured one, which must be empty, and compare the two; stop all servers first; broken " +
        "off, the same command again goes on",
    )
    .action((dir: string) => backups(restoreCommand, dir));
  addEncryptionCommands(program, context, async () => {
    requireStores();
    return parts.encryption(parts.readConfig());
  });
  addReplayCommands(program, {
    ...context,
    exported: () => backend(async (it) => text(it.export())),
    openTrial: (more, trial) => parts.openTrial(given.readConfig({ ...variables(), ...more }), trial),
  });
  program
    .command("doctor")
    .description("check configuration, stores, journals and versions, and say what to do")
    .option("--model", "instead have the model answer and read a message as the product does, and say what works and what to set", false)
    .option("--strict", "end with 6 also where something works but wants a look", false)
    .action(async ({ model, strict }: { model: boolean; strict: boolean }) => {
      const { nodeVersion, readConfig, sqliteVersion, serverOf, openModel, openTrial } = parts;
      const { url } = options();
      if (model && url !== undefined)
        throw new AppError("INVALID_REQUEST", {
          detail: "--model asks the model from here.",
          hint: "Run it where the server runs, without --url.",
        });
      const shown = async (found: AsyncIterable<Finding>) => done(await report(terminal(), found, strict));
      if (model) return shown(modelFindings({ readConfig, openModel, openTrial, signal }));
      if (url !== undefined) return backend((it) => shown(readinessFindings(it)));
      const open = async (config: Config) => {
        const { application, maintenance } = await parts.open(config);
        return { backend: localBackend(application, owner()), maintenance };
      };
      await shown(storageFindings({ nodeVersion, readConfig, sqliteVersion, serverOf, open }));
    });
  addStudioCommand(program, terminal, parts);
  program
    .command("completion")
    .description("a script by which a shell completes these commands: `source <(maitred completion bash)`")
    .addArgument(new Argument("<shell>").choices(SHELLS))
    .action((shell: Shell) => void parts.streams.stdout.write(completionOf(program, shell)));
  return program;
}

async function openLocal(parts: CliParts): Promise<Application> {
  const config = parts.readConfig();
  return (await unlessInUse(config, parts, "user", () => parts.open(config))).application;
}
