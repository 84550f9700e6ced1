import type { Command } from "commander";

/** Scripts by which shells complete the command line: made from the commands as they are, so that none is missing. */

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

interface Words {
  /** `memories`; the empty string for the program itself. */
  readonly after: string;
  readonly commands: readonly Command[];
  readonly options: readonly string[];
}

export function completionOf(program: Command, shell: Shell): string {
  const own = program.options.flatMap(({ long }) => long ?? []);
  const all = program.commands.map((command): Words => {
    const below = [command, ...command.commands].flatMap(({ options }) => options.flatMap(({ long }) => long ?? []));
    return { after: command.name(), commands: command.commands, options: [...new Set([...below, ...own, "--help"])] };
  });
  const first = { after: "", commands: program.commands, options: [...own, "--help", "--version"] };
  if (shell === "fish") return fish(first, all);
  const bash = posix(first, all);
  return shell === "bash" ? bash : `#compdef maitred\nautoload -U +X bashcompinit && bashcompinit\n${bash}`;
}

function posix(first: Words, all: readonly Words[]): string {
  const wordsOf = ({ commands, options }: Words) => [...commands.map((command) => command.name()), ...options].join(" ");
  return `_maitred() {
  local word words="${wordsOf(first)}"
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in
${all.map((each) => `      ${each.after}) words="${wordsOf(each)}"; break ;;`).join("\n")}
    esac
  done
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _maitred maitred
`;
}

function fish(first: Words, all: readonly Words[]): string {
  const told = (condition: string, { commands, options }: Words) => [
    ...commands.map((command) => `complete -c maitred -n '${condition}' -f -a ${command.name()} -d ${quoted(command.description())}`),
    ...options.map((option) => `complete -c maitred -n '${condition}' -l ${option.slice(2)}`),
  ];
  const lines = [
    ...told("__fish_use_subcommand", first),
    ...all.flatMap((each) => told(`__fish_seen_subcommand_from ${each.after}`, each)),
  ];
  return `${lines.join("\n")}\n`;
}

/** The first clause, as one word. */
function quoted(description: string): string {
  return `'${(description.split(/[;:,]/u)[0] ?? "").replaceAll("'", "")}'`;
}
