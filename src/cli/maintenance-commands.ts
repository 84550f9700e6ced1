import { type Command, Option } from "commander";
import type { Config } from "../compose/config.js";
import { AppError } from "../platform/errors.js";
import type { Application } from "../ports/application.js";
import { EXIT } from "./errors.js";
import { type InUseParts, unlessInUse } from "./in-use.js";
import { type Maintenance, type OverAllUsers, promoteCommand, reindexCommand, retentionCommand, usersCommand } from "./maintenance.js";
import { remoteOperator } from "./maintenance-of.js";
import { type GlobalOptions, remoteOptions } from "./remote-backend.js";
import type { CommandContext } from "./terminal.js";

/** Of the environment, as text: these come before it. */
export type Variables = Readonly<Record<string, string>>;

/** What these commands run on. */
export interface MaintenanceCliParts extends InUseParts {
  /** Aborts at the first Ctrl+C. */
  readonly signal: AbortSignal;
  /** @throws INVALID_CONFIG */
  readonly readConfig: (variables?: Variables) => Config;
  /** `reembed`: fits stored vectors to a changed embedder first. @throws STORAGE_IN_USE while another process owns the directory */
  readonly open: (
    config: Config,
    options?: { readonly reembed?: boolean },
  ) => Promise<{ readonly application: Application; readonly maintenance: Maintenance }>;
  readonly fetch: typeof fetch;
  /** MAITRED_OPERATOR_TOKEN: what is sent to a server where no token is given. */
  readonly operatorToken: () => string | undefined;
}

/** The commands over all users: on the stores themselves, or, with --url, through a server as its operator. */
export function addMaintenanceCommands(
  program: Command,
  parts: MaintenanceCliParts,
  { terminal, done, signal, owner }: CommandContext,
): void {
  const options = () => program.opts<GlobalOptions>();
  const maintained = async (
    work: (maintenance: OverAllUsers) => Promise<number | undefined>,
    opening: { readonly reembed?: boolean } = {},
  ): Promise<void> => {
    const { url } = options();
    if (url !== undefined) return done((await work(await remoteMaintenance(parts, url, options()))) ?? EXIT.ok);
    const config = parts.readConfig();
    const { application, maintenance } = await unlessInUse(config, parts, "operator", () => parts.open(config, opening));
    try {
      done((await work(maintenance)) ?? EXIT.ok);
    } finally {
      await application.close();
    }
  };
  program
    .command("reindex")
    .description(
      "rebuild the list of sessions and the history from the journals; after a change of embedder, memories' vectors too; with --url " +
        "both are brought level, and nothing is emptied",
    )
    .option("--memories", "memories alone, from their logs: also into a server that this installation never wrote to")
    .action(({ memories = false }: { memories?: boolean }) =>
      maintained(async (it) => void (await reindexCommand(terminal(), it, { memories, signal })), { reembed: true }),
    );
  program
    .command("promote")
    .description(
      "read what lies in the journals unread: imports, turns from when long-term memory was off, and those whose write-back was given up",
    )
    .option("--all-users", "of all users, not only --user", false)
    .action(({ allUsers }: { allUsers: boolean }) =>
      maintained((it) => promoteCommand(terminal(), it, { signal, ...(allUsers ? {} : { owner: owner() }) })),
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
    .command("users")
    .description("who has sessions: tenant, user, how many, and when they were last here; of --tenant alone where it is given")
    .action(() => {
      const tenant = program.getOptionValueSource("tenant") === "default" ? undefined : options().tenant;
      return maintained(async (it) => void (await usersCommand(terminal(), it, tenant)));
    });
}

/** @throws INVALID_REQUEST without a token */
async function remoteMaintenance(parts: MaintenanceCliParts, url: string, options: GlobalOptions): Promise<OverAllUsers> {
  const remote = await remoteOptions(parts, url, options);
  const token = remote.token ?? parts.operatorToken() ?? null;
  if (token !== null) return remoteOperator({ ...remote, token });
  throw new AppError("INVALID_REQUEST", {
    detail: "This command goes through a server as its operator.",
    hint: "Give its OPERATOR_TOKEN in MAITRED_OPERATOR_TOKEN, with --token-file or --token. While no server runs, leave out --url.",
  });
}
