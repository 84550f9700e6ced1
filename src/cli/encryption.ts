import type { Command } from "commander";
import type { EncryptionCommands, EncryptionOptions } from "../compose/encryption-commands.js";
import type { Resealed } from "../operations/renew-key.js";
import { EXIT } from "./errors.js";
import type { CommandContext, Terminal } from "./terminal.js";

export function addEncryptionCommands(program: Command, context: CommandContext, open: () => Promise<EncryptionCommands>): void {
  const { signal, done, owner: owned } = context;
  /** Writes the report, and says in a sentence what was done. */
  const run = async <T extends object>(
    work: (it: EncryptionCommands, terminal: Terminal) => Promise<T>,
    tell: (report: T) => string,
  ): Promise<void> => {
    const terminal = context.terminal();
    const report = await work(await open(), terminal);
    terminal.result(report);
    terminal.line(terminal.colours.green(tell(report)));
    done(EXIT.ok);
  };
  const counted = <T>(terminal: Terminal, work: (options: EncryptionOptions) => Promise<T>): Promise<T> =>
    terminal.during("Partitions", (update) => work({ signal, onProgress: (count) => update(count, 0) }));
  const told = ({ values, journals, points }: Resealed) =>
    `${values} values, ${journals} journals and ${points} vectors were written again.`;

  program
    .command("encrypt")
    .description(
      "encrypt all that is kept, in place, under ENCRYPTION_KEY_FILE; stop all servers first; broken off, the same command again goes on",
    )
    .action(() => run((it, terminal) => counted(terminal, (options) => it.encrypt(options)), told));
  program
    .command("decrypt")
    .description("the reverse, which takes the keys away, also those of backups; stop all servers first; then run `maitred reindex`")
    .action(() => run((it, terminal) => counted(terminal, (options) => it.decrypt(options)), told));
  const keys = program.command("keys").description("what encryption is by: rotated, saved apart from backups, and brought back");
  const rotate = () =>
    run(
      async (it, terminal) => ({ partitions: await counted(terminal, (options) => it.rotate(options)) }),
      ({ partitions }) => `The keys of ${partitions} partitions were wrapped anew; master keys behind the first are not needed any more.`,
    );
  keys
    .command("rotate")
    .description("wrap all data keys by the first master key of ENCRYPTION_KEY_FILE; no value is written")
    .option(
      "--owner",
      "instead encrypt all of the user's (--user) under a new data key; a server on files is stopped first, others go on",
      false,
    )
    .action(({ owner }: { owner: boolean }) =>
      owner ? run((it, terminal) => counted(terminal, (options) => it.renew(owned(), options)), told) : rotate(),
    );
  keys
    .command("save <file>")
    .description("copy the wrapped data keys, which are in no backup, to a file: who is erased later lives on in it, so keep it briefly")
    .action((file: string) =>
      run(
        async (it) => ({ partitions: await it.save(file) }),
        ({ partitions }) => `The keys of ${partitions} partitions: ${file}`,
      ),
    );
  keys
    .command("load <file>")
    .description("bring saved keys back, but for those destroyed since: into an empty store, before `maitred restore`")
    .action((file: string) =>
      run(
        async (it) => ({ keys: await it.load(file) }),
        (report) => `${report.keys} keys were taken in.`,
      ),
    );
}
