import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Parts } from "../compose/composed.js";
import type { Config } from "../compose/config.js";
import { parseOwner } from "../domain/owner.js";
import type { Promotion } from "../memories/promotion.js";
import type { LongTermMemory } from "../ports/memories.js";
import type { Operator } from "../ports/operator.js";
import type { OwnerLedger } from "../ports/owner-ledger.js";
import { everyItem } from "../ports/pages.js";
import type { SessionIndex, SessionStore } from "../ports/session-store.js";
import type { DatabaseCheck, GivenUpTurns, Maintenance } from "./maintenance.js";
import { allUsers } from "./remote-operator.js";

/** What a composed application has for work on its stores as a whole. */
export interface MaintenanceParts extends Pick<Parts, "isMerge" | "resolve" | "rebuildIndex" | "reindex" | "retention"> {
  readonly config: Pick<Config, "MEMORY_STORAGE_DIR" | "SHORT_TERM_BACKEND">;
  readonly store: Pick<SessionStore, "journal" | "index">;
  readonly ledger: Pick<OwnerLedger, "openErasures">;
  readonly longTerm: Pick<LongTermMemory, "rebuild">;
  readonly promotion: Pick<Promotion, "run">;
  readonly operator: Pick<Operator, "users">;
}

export function maintenanceOf(parts: MaintenanceParts): Maintenance {
  const { config, store, ledger, isMerge, resolve, longTerm, rebuildIndex, promotion, operator, reindex, retention } = parts;
  return {
    reindex: async ({ signal, onProgress }) => {
      let total = 0;
      for await (const _ of store.journal.list()) total += 1;
      // Sessions are counted twice: once for their list, once for history.
      // Broken off, the next start goes on.
      const { sessions: listed } = await rebuildIndex({ signal, onProgress: (done) => onProgress(done, total * 2) });
      const { sessions, added, failed } = await reindex({
        which: "all",
        signal,
        onProgress: (report) => onProgress(total + report.sessions, total * 2),
      });
      signal.throwIfAborted();
      return { sessions: listed, sessions_searched: sessions, messages_added_to_history: added, sessions_failed: failed };
    },
    reindexMemories: async ({ signal, onProgress }) => {
      const { owners, memories, failed } = await longTerm.rebuild({ signal, onProgress: (done) => onProgress(done.owners, 0) });
      return { users: owners, memories, users_failed: failed };
    },
    promote: async ({ onProgress, owner, ...options }) => {
      let looked = 0;
      const whose = owner === undefined ? {} : { owner: await resolve(owner) };
      return promotion.run({ ...options, ...whose, onProgress: () => onProgress(++looked, 0) });
    },
    retention: ({ onProgress, ...options }) =>
      retention({ ...options, onProgress: ({ deleted, purged }) => onProgress(deleted + purged, 0) }),
    users: (tenant) => allUsers((query) => operator.users(query), tenant),
    pendingWriteBacks: () => store.index.pendingCounts(),
    givenUpTurns: () => givenUpTurns(store.index),
    openErasures: async () => {
      let open = 0;
      for (const { owner } of await ledger.openErasures()) if (!(await isMerge(owner))) open += 1;
      return open;
    },
    journals: () => store.journal.check(),
    databases: () => checkDatabases(config.SHORT_TERM_BACKEND === "file" ? config.MEMORY_STORAGE_DIR : null),
  };
}

const OWNERS_A_PAGE = 200;

async function* givenUpTurns(index: Pick<SessionIndex, "owners" | "pendingOf">): AsyncGenerator<GivenUpTurns> {
  for await (const { owner } of everyItem((at) => index.owners({ limit: OWNERS_A_PAGE, ...at }))) {
    const failed = (await index.pendingOf(owner)).filter(({ state }) => state === "failed");
    for (const sessionId of new Set(failed.map((turn) => turn.sessionId))) {
      const turns = failed.filter((turn) => turn.sessionId === sessionId);
      yield { ...parseOwner(owner), sessionId, turns: turns.length, code: turns.at(-1)?.errorCode ?? null };
    }
  }
}

async function* checkDatabases(dir: string | null): AsyncGenerator<DatabaseCheck> {
  if (dir === null) return;
  // On demand: nothing else here needs SQLite, and there are commands that do without.
  const { checkDatabase, isDamage } = await import("../platform/sqlite.js");
  for (const name of (await readdir(dir)).filter((each) => each.endsWith(".db")).sort()) {
    const path = join(dir, name);
    try {
      checkDatabase(path);
      yield { path, damaged: false };
    } catch (error) {
      if (!isDamage(error)) throw error;
      yield { path, damaged: true };
    }
  }
}
