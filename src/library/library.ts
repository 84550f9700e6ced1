import type { MaitredParts } from "../compose/compose.js";
import type { Clock } from "../platform/clock.js";
import type { Application } from "../ports/application.js";
import type { UserParts } from "./checked.js";
import type { Maitred } from "./maitred.js";
import type { MaitredOptions } from "./options.js";
import type { MaitredUser } from "./user.js";

export { type HandleParts, handlePartsOf } from "./handle-parts.js";
export { knownOptions, noSession, OF_A_SESSION, type SessionName, sessionNamed } from "./known-options.js";
export { type Maitred, serverPartsOf } from "./maitred.js";
export type { MaitredUser } from "./user.js";

/**
 * Maitred in one's own process: opens the stores, finishes what a crash left behind, starts the write-back. Close it with `close()`.
 * @throws INVALID_CONFIG (an unknown option is named with the nearest one), STORAGE_IN_USE, STORAGE_UNAVAILABLE, REINDEX_REQUIRED,
 *   QDRANT_TOO_OLD, EMBEDDING_UNAVAILABLE
 *
 * @example
 * const maitred = await createMaitred({ memoryStorageDir: "./memory_storage" });
 * const ada = maitred.for({ user: "ada" });
 * const answer = await ada.chat("A table for two by the window, please.");
 */
export async function createMaitred(options: MaitredOptions = {}): Promise<Maitred> {
  return (await loaded()).openMaitred(options);
}

/**
 * As {@link createMaitred}, with `variables` as text: those of the table of variables. The process environment is not read.
 * @throws INVALID_CONFIG, STORAGE_IN_USE, STORAGE_UNAVAILABLE, REINDEX_REQUIRED, QDRANT_TOO_OLD, EMBEDDING_UNAVAILABLE
 */
export async function createOrchestrator(
  variables: Readonly<Record<string, string | undefined>> = {},
  parts: MaitredParts = {},
): Promise<Maitred> {
  return (await loaded()).openOrchestrator(variables, parts);
}

/** Everything for one user, over an application that somebody else opened. */
export async function userOf(application: Application, user: UserParts, clock: Clock): Promise<MaitredUser> {
  return (await loaded()).userOf(application, user, clock);
}

/** Importing the package loads neither the stores nor the schemas of the API. */
function loaded() {
  return import("./open-maitred.js");
}
