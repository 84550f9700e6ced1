import { readFileSync } from "node:fs";
import { SERVER_TIME, script } from "../../../platform/lua-script.js";

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
