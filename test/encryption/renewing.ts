import { parseConfig } from "../../src/compose/config.js";
import { encryptionOf } from "../../src/compose/encryption-commands.js";
import type { Owner } from "../../src/domain/owner.js";
import { byWords } from "../support/by-words.js";

/** Renews an owner's key, and says when it begins. */
const [owner, variables] = process.argv.slice(2);
if (owner === undefined || variables === undefined) throw new Error("usage: renewing <owner> <variables as JSON>");
const commands = encryptionOf(parseConfig(byWords(JSON.parse(variables))));
process.stdout.write("renewing\n");
await commands.renew(owner as Owner, { signal: new AbortController().signal, onProgress: () => {} });
