import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

/** A Lua script that runs as one step: nothing is seen between its first command and its last. */
export interface Script<Name extends string = string> {
  /** In the script `K.<name>` (or `K['<name>']`), in this order. All of one slot. */
  readonly names: readonly Name[];
  readonly lua: string;
  readonly sha: string;
}

function script<const Name extends string>(names: readonly Name[], body: string): Script<Name> {
  const keys = names.map((name, index) => `['${name}']=KEYS[${index + 1}]`).join(",");
  const lua = `local K = {${keys}}\nlocal call = redis.call\n${body}`;
  return { names, lua, sha: createHash("sha1").update(lua).digest("hex") };
}

/** For scripts: milliseconds by the server's clock. */
const SERVER_TIME = `
local function now()
  local time = call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
`;

function fromFile<const Name extends string>(file: string, names: readonly Name[]) {
  return script(names, SERVER_TIME + readFileSync(new URL(`./${file}.lua`, import.meta.url), "utf8"));
}

/** Of one partition. */
export const COMMIT = fromFile("commit", ["head", "keys", "values"]);
export const READ = fromFile("read", ["head", "keys", "values"]);
export const ERASE = fromFile("erase", ["head", "keys", "values"]);
export const CLAIM = fromFile("claim", ["head"]);
/** Of one shard of the index. */
export const REPAIR = fromFile("repair", ["alarms", "announced"]);
export const SIGN = fromFile("sign", ["installation"]);
