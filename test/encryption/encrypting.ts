import { parseConfig } from "../../src/compose/config.js";
import { encryptionOf } from "../../src/compose/encryption-commands.js";
import { byWords } from "../support/by-words.js";

/** Encrypts a directory in place, and says how many partitions are done. */
const [dir, key] = process.argv.slice(2);
if (dir === undefined || key === undefined) throw new Error("usage: encrypting <dir> <key file>");
const commands = encryptionOf(parseConfig(byWords({ MEMORY_STORAGE_DIR: dir, ENCRYPTION_KEY_FILE: key })));
const onProgress = (done: number) => void process.stdout.write(`${done}\n`);
await commands.encrypt({ signal: new AbortController().signal, onProgress });
